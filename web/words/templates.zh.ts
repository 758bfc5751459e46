// The Chinese texts of templates, by the English text: a template is opened in the language of the
// page. A test compares the keys with the templates.

/** zh are the Chinese texts. */
export const zh: Readonly<Record<string, string>> = {
  // arXiv is searched in English.
  "Start": "开始",
  "Note": "便签",
  "Make it yours": "改成您自己的",
  "Answer": "回答",
  "Result": "结果",
  "One per line": "每行一个",
  "Word file": "Word 文件",
  "Paste a text.": "请粘贴一段文字。",
  "Text": "文字",
  "Summary": "总结",
  "Reply": "回复",
  "Report": "报告",
  "What would you like to know from the database?": "您想从数据库里了解什么？",
  ["You write one SQL SELECT statement for SQLite and nothing else.\n\nTables:\norders(id, customer, day, " +
    "total)\ncustomers(id, name, city)"]:
    "您只为 SQLite 写一条 SQL SELECT 语句，不写其他内容。\n\n数据表：\norders(id, customer, day, total)\n" +
    "customers(id, name, city)",
  ["Explain the result to somebody who does not know SQL, in at most four sentences. Show the rows as a " +
    "Markdown table if there are fewer than twenty."]:
    "用不超过四句话，向不懂 SQL 的人解释结果。少于二十行时，用 Markdown 表格列出各行。",
  "Question: {sys.query}\n\nRows:\n{ExeSQL:Database@formalized_content}":
    "问题：{sys.query}\n\n数据行：\n{ExeSQL:Database@formalized_content}",
  "Write the SQL": "编写 SQL",
  "Run it": "执行查询",
  "Explain the rows": "解释结果",
  ["Describe your tables in **Write the SQL** and set the connection in **Run it**. Store the password as a " +
    "secret of the host."]:
    "在**编写 SQL**中描述您的数据表，在**执行查询**中设置连接。密码请保存为主机的机密。",
  "Paste a table with commas between the columns.": "请粘贴一张表格，列之间用英文逗号分隔。",
  "Table": "表格内容",
  "name,city,amount\n Oda ,Oslo,12\nKim,Seoul,7\nOda,Oslo,12\nLee,,3":
    "姓名,城市,数量\n 王芳 ,上海,12\n李明,北京,7\n王芳,上海,12\n张伟,,3",
  "city": "城市",
  "Column that must not be empty": "不能为空的列",
  ["{ExcelProcessor:Sheet@summary}, {CodeExec:Read@dropped} incomplete rows left out.\n\n" +
    "{ExcelProcessor:Sheet@markdown}"]:
    "{ExcelProcessor:Sheet@summary}，略去 {CodeExec:Read@dropped} 行不完整的数据。\n\n" +
    "{ExcelProcessor:Sheet@markdown}",
  "Read the rows": "读取各行",
  "Drop duplicates": "去除重复",
  "Write a spreadsheet": "生成电子表格",
  "The script runs in a sandbox without network. Change it to convert dates or compute columns.":
    "脚本在没有网络的沙箱中运行。可以修改它来转换日期或计算新的列。",
  "Paste a contract.": "请粘贴一份合同。",
  "Contract": "合同",
  ["The supplier delivers 200 cups each month. The buyer pays within 14 days. Either side may end this " +
    "contract with three months of notice. Late delivery costs two percent a week."]:
    "供应商每月交付 200 个杯子。买方在 14 天内付款。任何一方可提前三个月通知终止本合同。延迟交付每周扣除百分之" +
    "二。",
  "You are the": "您是",
  "buyer": "买方",
  "supplier": "供应商",
  ["You read contracts for the {begin@side}. List what each side has to do, each in one line. Quote the " +
    "words of the contract. You give no legal advice."]:
    "您替{begin@side}阅读合同。逐行列出各方的义务，并引用合同原文。不提供法律意见。",
  ["You read contracts for the {begin@side}. List all dates, periods and notice times, each with what they " +
    "are for. Quote the words of the contract. You give no legal advice."]:
    "您替{begin@side}阅读合同。列出所有日期、期限和通知期，并说明各自的用途，引用合同原文。不提供法律意见。",
  ["You read contracts for the {begin@side}. List what could hurt the reader and what is missing, the " +
    "gravest first. Quote the words of the contract. You give no legal advice."]:
    "您替{begin@side}阅读合同。列出可能对己方不利的内容和缺失的条款，最严重的在前，引用合同原文。不提供法律意见" +
    "。",
  ["## Duties\n{LLM:Duties@content}\n\n## Dates and periods\n{LLM:Dates@content}\n\n## Risks\n" +
    "{LLM:Risks@content}"]:
    "## 义务\n{LLM:Duties@content}\n\n## 日期与期限\n{LLM:Dates@content}\n\n## 风险\n{LLM:Risks@content}",
  "Contract report": "合同报告",
  "Duties": "义务",
  "Dates and periods": "日期与期限",
  "Risks": "风险",
  "One report": "合并报告",
  "The three readers run at the same time. Add another by copying one of them.":
    "三个阅读步骤同时运行。复制其中一个即可再加一个。",
  "Which topic?": "哪个主题？",
  "Topic": "主题",
  "retrieval augmented generation": "retrieval augmented generation",
  "How many papers": "论文数量",
  ["You write digests of scientific papers. For each paper: title, what it claims, how it was shown, one " +
    "weakness. Use Markdown headings."]:
    "您撰写论文摘要。每篇论文写明：标题、主要结论、论证方法、一个不足。使用 Markdown 标题。",
  "Topic: {begin@topic}. At most {begin@count} papers.\n\n{ArXiv:Papers@formalized_content}":
    "主题：{begin@topic}。最多 {begin@count} 篇论文。\n\n{ArXiv:Papers@formalized_content}",
  "Digest: {begin@topic}": "论文摘要：{begin@topic}",
  "Find preprints": "查找预印本",
  "Write the digest": "撰写摘要",
  "Digest": "摘要",
  "Change **Find preprints** to PubMed for medicine, or to Google Scholar with a key.":
    "医学主题可把**查找预印本**换成 PubMed；有密钥时可换成 Google Scholar。",
  "Ask something large, such as: Should we open a second shop?": "请提一个大问题，例如：我们该开第二家店吗？",
  ["Split the question into three to five smaller questions that can be answered one by one. One question " +
    "per line, no numbers, nothing else."]:
    "把问题拆成三到五个可以逐一回答的小问题。每行一个问题，不加编号，不写其他内容。",
  "Answer the question in at most three sentences. Say what you do not know.":
    "用不超过三句话回答问题。不知道的请说明。",
  "Write one clear answer to the question from the partial answers. Name what is still open.":
    "根据各部分回答，写出一个清楚的完整回答，并指出尚未解决的地方。",
  "Question: {sys.query}\n\nPartial answers:\n{StringTransform:All@result}":
    "问题：{sys.query}\n\n各部分回答：\n{StringTransform:All@result}",
  "Smaller questions": "拆成小问题",
  "Answer each": "逐一回答",
  "Question": "问题",
  "Answer it": "回答它",
  "All answers": "全部回答",
  "Put a search tool into the loop by replacing **Answer it** with an Agent.":
    "把**回答它**换成智能体，就能在循环中使用搜索工具。",
  "Paste reviews, one per line.": "请粘贴评价，每行一条。",
  "Reviews": "评价",
  "Lovely tea and quick delivery\nThe parcel came late and the cup was broken\nPrice is fine":
    "茶很好，送货也快\n包裹来晚了，杯子也碎了\n价格还可以",
  "Answer with one word: positive, neutral or negative.": "只用一个词回答：正面、中性或负面。",
  ["function main({ labels }) {\n  const counts = { positive: 0, neutral: 0, negative: 0, other: 0 };\n  " +
    "for (const label of labels) {\n    const found = Object.keys(counts).find((name) => " +
    "String(label).toLowerCase().includes(name));\n    counts[found ?? \"other\"]++;\n  }\n  return { table: " +
    "Object.entries(counts).map(([name, n]) => \"| \" + name + \" | \" + n + \" |\").join(\"\\n\") };\n}"]:
    "function main({ labels }) {\n  const counts = { 正面: 0, 中性: 0, 负面: 0, 其他: 0 };\n  for (const label " +
    "of labels) {\n    const found = Object.keys(counts).find((name) => " +
    "String(label).toLowerCase().includes(name));\n    counts[found ?? \"其他\"]++;\n  }\n  return { table: " +
    "Object.entries(counts).map(([name, n]) => \"| \" + name + \" | \" + n + \" |\").join(\"\\n\") };\n}",
  "What people mention": "大家提到的",
  "Name the three things that the reviews mention most, each in one line with an example.":
    "列出评价中最常提到的三点，每点一行并举一例。",
  "| mood | reviews |\n| --- | --- |\n{CodeExec:Count@table}\n\n**Themes**\n\n{LLM:Themes@content}":
    "| 情绪 | 评价数 |\n| --- | --- |\n{CodeExec:Count@table}\n\n**主题**\n\n{LLM:Themes@content}",
  "Each review": "每条评价",
  "Review": "评价内容",
  "Label it": "标注情绪",
  "Count": "统计",
  "For thousands of reviews set **At once** in the loop, so that several are labelled at the same time.":
    "评价成千上万条时，请在循环中设置并行数，这样可以同时标注多条。",
  ["The committee met on Monday. It agreed to repair the roof before winter, to ask three firms for offers, " +
    "and to pay from the reserve. The garden has to wait until spring."]:
    "委员会周一开会，决定入冬前修好屋顶，向三家公司询价，费用从储备金支出。花园要等到春天再整修。",
  "For whom": "读者",
  "a colleague": "同事",
  "a customer": "客户",
  "a child": "孩子",
  "Length": "篇幅",
  "one sentence": "一句话",
  "five sentences": "五句话",
  "one page": "一页",
  "You summarise texts. Start with the most important point. Add nothing that is not in the text.":
    "您负责总结文字。先写最重要的一点。不添加原文没有的内容。",
  "Summarise for {begin@reader}, in {begin@length}:\n\n{begin@text}":
    "为{begin@reader}总结，篇幅为{begin@length}：\n\n{begin@text}",
  "List the decisions, numbers and dates of the text as bullet points. Leave out what is not there.":
    "用列表写出文中的决定、数字和日期。没有的就略去。",
  "{LLM:Summary@content}\n\n**Key points**\n\n{LLM:Points@content}":
    "{LLM:Summary@content}\n\n**要点**\n\n{LLM:Points@content}",
  "Summarise": "总结文字",
  "Key points": "要点",
  "Add a field of the type file in **Text** to summarise PDF and Word documents.":
    "在**文字**中添加一个文件类型的字段，就能总结 PDF 和 Word 文档。",
  "Hello! Ask about our products, your order, or ask for a person.":
    "您好！可以询问商品和订单，也可以要求人工服务。",
  "Product or policy": "商品或政策",
  "questions about products, prices, shipping, returns, opening hours":
    "有关商品、价格、配送、退货、营业时间的问题",
  "How long can I return shoes?": "鞋子多久之内可以退？",
  "Do you ship abroad?": "可以寄到国外吗？",
  "Small talk": "闲聊",
  "greetings, thanks and everything that is no question": "问候、致谢，以及不是问题的话",
  "Hello!": "你好！",
  "Thank you": "谢谢",
  "Needs a person": "需要人工",
  "complaints, a particular order, or somebody asks for a person": "投诉、某个具体订单，或要求人工服务",
  "My parcel is broken": "我的包裹破损了",
  "I want to talk to a human": "我要找人工客服",
  "The handbook does not answer this.": "手册中没有相关内容。",
  ["You are the support assistant of an online shop. Answer in the language of the question, in at most " +
    "five sentences, from the handbook only. If it does not answer the question, say so and offer a person.\n" +
    "\nHandbook:\n{Retrieval:Handbook@formalized_content}"]:
    "您是网店的客服助手。用提问的语言回答，不超过五句话，只依据手册。手册没有答案时，请说明并建议转人工。\n\n手" +
    "册：\n{Retrieval:Handbook@formalized_content}",
  ["You are the friendly support assistant of an online shop. Reply in one sentence and ask how you can " +
    "help."]:
    "您是网店的友好客服助手。用一句话回复，并询问能帮什么忙。",
  "A colleague will take care of this. Where can we reach you?": "同事会处理这件事。怎么联系您？",
  "E-mail address": "电子邮箱",
  "Order number, if there is one": "订单号（如果有）",
  "Thank you. We will write to **{UserFillUp:Request@email}** within one working day about: {sys.query}":
    "谢谢。我们会在一个工作日内写信到 **{UserFillUp:Request@email}**，答复：{sys.query}",
  "What is it about?": "关于什么？",
  "Search the handbook": "检索手册",
  "Answer from the handbook": "依据手册回答",
  "Whichever answered": "取其中的回答",
  "Contact form": "联系表单",
  "Request taken": "已登记请求",
  "Choose your own dataset in **Search the handbook**. Until then a short sample handbook answers.":
    "在**检索手册**中选择您自己的数据集。在此之前，由一本简短的示例手册作答。",
  "What would you like to know?": "您想了解什么？",
  ["Answer the question from these passages only, in the language of the question.\n\n" +
    "{Retrieval:Documents@formalized_content}"]:
    "只依据以下段落，用提问的语言回答。\n\n{Retrieval:Documents@formalized_content}",
  "I found nothing about this in the documents. Try other words, or ask about another topic.":
    "文档中没有找到相关内容。请换个说法，或询问其他主题。",
  "Search the documents": "检索文档",
  "Found something?": "找到了吗？",
  "Write the answer": "撰写回答",
  "Nothing found": "没有找到",
  ["Choose your dataset in **Search the documents**. A lower similarity finds more, a higher one only what " +
    "fits well."]:
    "在**检索文档**中选择您的数据集。相似度设得低找到的多，设得高只找到贴切的。",
  "Paste a ticket.": "请粘贴一张工单。",
  "Ticket": "工单",
  "Since this morning the invoice page shows an error and our month end is tomorrow.":
    "从今天早上起发票页面一直报错，而明天就是月末结账。",
  "Customer": "客户",
  "Example Ltd": "示例有限公司",
  "Billing": "账务",
  "invoices, payments, prices, refunds": "发票、付款、价格、退款",
  "I was charged twice": "我被重复扣款了",
  "Where is my invoice?": "我的发票在哪里？",
  "Technical": "技术",
  "errors, outages, how to use the product": "错误、故障、产品的使用方法",
  "The page shows an error": "页面显示错误",
  "I cannot log in": "我登录不了",
  "Sales": "销售",
  "new licences, offers, changes of a contract": "新的许可、报价、合同变更",
  "We need ten more seats": "我们还需要十个席位",
  ["You work in billing. Draft a polite reply of at most six sentences to the customer. Do not promise " +
    "dates."]:
    "您在账务部门工作。请起草一封礼貌的客户回复，不超过六句话，不承诺日期。",
  ["You work in technical support. Draft a polite reply of at most six sentences to the customer. Do not " +
    "promise dates."]:
    "您在技术支持部门工作。请起草一封礼貌的客户回复，不超过六句话，不承诺日期。",
  "You work in sales. Draft a polite reply of at most six sentences to the customer. Do not promise dates.":
    "您在销售部门工作。请起草一封礼貌的客户回复，不超过六句话，不承诺日期。",
  "Customer: {begin@customer}\nTicket: {begin@ticket}": "客户：{begin@customer}\n工单：{begin@ticket}",
  "Rate how urgent a ticket is: low, normal or high, and why in one short sentence.":
    "评定工单的紧急程度：低、一般或高，并用一句短话说明原因。",
  ["**Team:** {Categorize:Team@category_name}\n\n**Urgency:** {LLM:Urgency@content}\n\n**Draft**\n\n" +
    "{VariableAggregator:Draft@answer}"]:
    "**团队：** {Categorize:Team@category_name}\n\n**紧急程度：** {LLM:Urgency@content}\n\n**草稿**\n\n" +
    "{VariableAggregator:Draft@answer}",
  "Which team?": "哪个团队？",
  "Draft: billing": "草稿：账务",
  "Draft: technical": "草稿：技术",
  "Draft: sales": "草稿：销售",
  "The draft": "最终草稿",
  "How urgent?": "有多紧急？",
  "Triage": "分派结果",
  "Rename the teams in **Which team?** and give each a few examples of its tickets.":
    "在**哪个团队？**中修改团队名称，并为每个团队写几个工单示例。",
  "Dear guests,\nour tea house opens at ten.\nWe look forward to seeing you.":
    "各位来宾：\n本茶馆十点开门。\n期待您的光临。",
  "Into": "译成",
  "German": "德语",
  "French": "法语",
  "Spanish": "西班牙语",
  "Chinese": "中文",
  "English": "英语",
  "Terms to keep": "固定译名",
  "tea house = Teehaus": "茶馆 = Teehaus",
  "Translate into {begin@language}. Keep these terms: {begin@terms}. Answer with the translation only.":
    "译成{begin@language}。遵守这些译名：{begin@terms}。只回答译文。",
  "Document": "文档",
  "Paragraphs": "段落",
  "Each paragraph": "每个段落",
  "Paragraph": "段落内容",
  "Translate": "翻译",
  "Join": "合并",
  "Translation": "译文",
  "Paragraphs are translated one by one, so that a long text never exceeds the model.":
    "段落逐一翻译，因此再长的文字也不会超出模型的长度。",
  "Which question shall I look into?": "需要我研究什么问题？",
  ["You research questions. Search before you answer, compare at least two sources, and write a report of " +
    "at most 200 words in the language of the question. End with a list of the sources you used."]:
    "您负责研究问题。先搜索再回答，至少比较两个来源，用提问的语言写一份不超过 300 字的报告，最后列出所用来源。",
  "Web search": "网络搜索",
  "Encyclopedia": "百科全书",
  "Researcher": "研究员",
  "In this page mock tools answer. Run it on a host to search the real web; both tools need no key.":
    "在此页面由模拟工具作答。在主机上运行即可搜索真实的网络；两个工具都不需要密钥。",
};
