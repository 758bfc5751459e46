// An example of each component for the help, by its stored name: typical settings and their result.
// A test compares the names with the components.

/** examples have their texts in both languages. */
export const examples: Readonly<Record<string, { en: string; zh: string }>> = {
  Begin: {
    en: "A chat greets with “Hello! What can I do for you?” and offers three questions as buttons. A form asks for " +
      "an order number before the first step runs.",
    zh: "聊天以“您好！有什么可以帮您？”开场，并把三个问题显示为按钮。表单则在第一步运行之前询问订单号。",
  },
  UserFillUp: {
    en: "With the fields “E-mail address” and “Order number” the run waits, and continues with both once the " +
      "person has sent the form.",
    zh: "设置“电子邮箱”和“订单号”两个字段后，运行会等待，直到用户提交表单再继续。",
  },
  Message: {
    en: "“Thank you. We will write to {Contact form · email} within a day.” The chip is replaced by the address " +
      "that was entered.",
    zh: "“谢谢，我们会在一天内写信到 {联系表单 · email}。”其中的标签会被替换为填写的地址。",
  },
  LLM: {
    en: "Instructions “Summarise in three sentences.”, message {sys.query}: the answer is a summary of what the " +
      "person pasted.",
    zh: "系统提示词为“用三句话总结。”，用户消息为 {sys.query}：回答就是用户粘贴内容的总结。",
  },
  Agent: {
    en: "With the tools Wikipedia and Code it looks up the heights of two mountains, subtracts them in a script, " +
      "and answers.",
    zh: "配上维基百科和代码执行两个工具，它会查到两座山的高度，用脚本相减，然后回答。",
  },
  Categorize: {
    en: "Categories “Billing” and “Technical”: “I was charged twice” leaves at Billing, “The page shows an error” " +
      "at Technical.",
    zh: "类别为“账务”和“技术”：“我被重复扣款了”从账务离开，“页面显示错误”从技术离开。",
  },
  Retrieval: {
    en: "Dataset “Handbook”, looking for {sys.query}: “How long can I return shoes?” finds the passage about " +
      "returns, which the next step quotes.",
    zh: "数据集为“手册”，检索 {sys.query}：“鞋子多久之内可以退？”会找到退货一段，由下一步引用。",
  },
  Switch: {
    en: "If {Start · amount} is greater than 500, go to “Ask a person”, otherwise to “Pay”.",
    zh: "如果 {开始 · 金额} 大于 500，就到“请人批准”，否则到“付款”。",
  },
  Iteration: {
    en: "Over the list of reviews, with an LLM inside that answers “positive” or “negative”: it gives a list of as " +
      "many words.",
    zh: "遍历评价列表，内部的大模型回答“正面”或“负面”：结果是同样长度的列表。",
  },
  IterationItem: {
    en: "Steps inside the loop refer to {item} for the review of this turn and to {index} for its place, from 0.",
    zh: "循环内的步骤用 {item} 引用这一轮的评价，用 {index} 引用它的位置（从 0 开始）。",
  },
  Loop: {
    en: "Variable n starts at 0, each turn adds 1, stop when n is at least 5: five turns run.",
    zh: "变量 n 从 0 开始，每轮加 1，当 n 大于等于 5 时停止：共运行五轮。",
  },
  LoopItem: {
    en: "The first step inside a loop follows it. It reads the loop's variables as they are in this turn.",
    zh: "循环内的第一步接在它后面，读取循环变量在这一轮的值。",
  },
  ExitLoop: {
    en: "Behind an If / else that asks whether the answer is good enough: the loop ends at once, with what it has.",
    zh: "接在判断回答是否足够好的条件分支后面：循环立即结束，保留已有结果。",
  },
  VariableAssigner: {
    en: "“Add 1 to tries” counts how often a person was asked. “Add to list” keeps every answer.",
    zh: "“tries 加 1”记录询问用户的次数；“追加元素”保留每个回答。",
  },
  VariableAggregator: {
    en: "Two branches write an answer; the group “answer” has the one that ran, so a single Reply can show it.",
    zh: "两条分支各写一个回答；分组“answer”取运行过的那个，因此只需一个回复步骤。",
  },
  ListOperations: {
    en: "Sort by price, falling, then “First ones” with 3: the three dearest offers.",
    zh: "按价格降序排序，再取前 3 个：最贵的三个报价。",
  },
  DataOperations: {
    en: "“Keep members” name and price turns {name, price, stock, id} into {name, price}.",
    zh: "“保留成员”name 和 price，把 {name, price, stock, id} 变成 {name, price}。",
  },
  StringTransform: {
    en: "Split “tea, milk, sugar” at commas gives a list of three; Build writes a text from several steps.",
    zh: "按逗号拆分“茶,牛奶,糖”得到三项的列表；合并则用多个步骤的结果写成一段文字。",
  },
  CodeExec: {
    en: "function main({ price, count }) { return { total: price * count } } gives the output total.",
    zh: "function main({ price, count }) { return { total: price * count } } 给出输出 total。",
  },
  Invoke: {
    en: "GET https://api.example.com/orders with the field id = {Start · order}: the answer of the service is the " +
      "output result.",
    zh: "GET https://api.example.com/orders，字段 id = {开始 · order}：服务的回答就是输出 result。",
  },
  Canvas: {
    en: "The canvas “Translate a text” runs as one step: its form fields are the inputs, its reply is the output " +
      "content.",
    zh: "把画布“翻译文字”作为一个步骤运行：它的表单字段是输入，它的回复是输出 content。",
  },
  TavilySearch: {
    en: "Search for “{sys.query} price 2026”, kind News: titles, addresses and passages for the next prompt.",
    zh: "搜索“{sys.query} 价格 2026”，类别为新闻：得到标题、网址和段落，供下一步使用。",
  },
  TavilyExtract: {
    en: "Given the addresses of two articles it returns their texts, without menus and advertisements.",
    zh: "给出两篇文章的网址，返回去掉菜单和广告的正文。",
  },
  DuckDuckGo: {
    en: "Search for {sys.query}, five results. It needs no key.",
    zh: "搜索 {sys.query}，取五条结果。不需要密钥。",
  },
  Google: {
    en: "Search for {sys.query} in Germany and in German, with a key of SerpApi.",
    zh: "用 SerpApi 的密钥，以德国和德语搜索 {sys.query}。",
  },
  SearXNG: {
    en: "Server https://search.example.org, search for {sys.query}: results of your own search server.",
    zh: "服务器为 https://search.example.org，搜索 {sys.query}：由您自己的搜索服务器给出结果。",
  },
  Bing: {
    en: "Search for {sys.query}, kind News, language German: the newest articles.",
    zh: "搜索 {sys.query}，类别为新闻，语言为德语：得到最新的文章。",
  },
  BGPT: {
    en: "Search for “intermittent fasting sleep”: studies with methods and results.",
    zh: "搜索“intermittent fasting sleep”：得到带方法和结果的研究。",
  },
  Keenable: {
    en: "Search for {sys.query} only on docs.example.com.",
    zh: "只在 docs.example.com 中搜索 {sys.query}。",
  },
  QueritSearch: {
    en: "Search for {sys.query}, not older than a week, three parts of each page.",
    zh: "搜索 {sys.query}，不早于一周，每页取三段。",
  },
  QueritContents: {
    en: "Given the addresses that a search found it returns the pages as Markdown.",
    zh: "给出搜索找到的网址，以 Markdown 返回页面内容。",
  },
  Wikipedia: {
    en: "Search for “Mount Fuji”, language English: the beginnings of the best articles.",
    zh: "搜索“富士山”，语言为中文：得到最相关条目的开头。",
  },
  ArXiv: {
    en: "Search for “retrieval augmented generation”, newest first, five results: titles and abstracts.",
    zh: "搜索“retrieval augmented generation”，按最新排序，取五条：得到标题和摘要。",
  },
  PubMed: {
    en: "Search for “migraine prevention”: titles and abstracts of medical papers.",
    zh: "搜索“migraine prevention”：得到医学论文的标题和摘要。",
  },
  GitHub: {
    en: "Search for “workflow engine”: repositories with description and stars.",
    zh: "搜索“workflow engine”：得到仓库及其说明和星标数。",
  },
  GoogleScholar: {
    en: "Search for “federated learning”, from 2023, by date.",
    zh: "搜索“federated learning”，从 2023 年起，按日期排序。",
  },
  YahooFinance: {
    en: "Stock AAPL, include news and info: a report for the next prompt.",
    zh: "股票代码 AAPL，包含新闻和信息：得到供下一步使用的报告。",
  },
  WenCai: {
    en: "Ask for “连续三年分红的银行股”, of the kind stock: a table of shares.",
    zh: "查询“连续三年分红的银行股”，类别为股票：得到股票表格。",
  },
  ExeSQL: {
    en: "select city, count(*) from customers group by city: the rows as a table for the reply and as data for a " +
      "script.",
    zh: "select city, count(*) from customers group by city：结果行既是供回复使用的表格，也是供脚本使用的数据。",
  },
  Email: {
    en: "To {Contact form · email}, subject “Your order {Start · order}”, text from the LLM before it.",
    zh: "收件人 {联系表单 · email}，主题“您的订单 {开始 · order}”，正文来自前面的大模型。",
  },
  ExcelProcessor: {
    en: "Merge two uploaded spreadsheets by the column “customer” and write one file to download.",
    zh: "按“customer”列合并两个上传的表格，写成一个可下载的文件。",
  },
  DocGenerator: {
    en: "Content {Write the digest · content}, as PDF, with page numbers: the reply shows a link to the file.",
    zh: "内容为 {撰写摘要 · content}，格式 PDF，带页码：回复中显示文件链接。",
  },
  Browser: {
    en: "“Open example.com/status and tell me whether the service is up.” The model reads and clicks, at most 30 " +
      "steps.",
    zh: "“打开 example.com/status，告诉我服务是否正常。”模型会阅读和点击，最多 30 步。",
  },
  AkShare: {
    en: "Search for a share by its code: the newest reports about it.",
    zh: "按股票代码搜索：得到关于它的最新资讯。",
  },
  Crawler: {
    en: "Address {Start · link}, as Markdown: the text of the page for a summary.",
    zh: "网址为 {开始 · link}，格式为 Markdown：得到供总结的页面文字。",
  },
  DeepL: {
    en: "Text {sys.query}, into German: the translation.",
    zh: "文字为 {sys.query}，译成德语：得到译文。",
  },
  Jin10: {
    en: "Kind “News”, only with “gold”: short messages of the market.",
    zh: "类别为“快讯”，只包含“黄金”：得到市场快讯。",
  },
  QWeather: {
    en: "Place {Start · city}, for three days: temperatures and rain.",
    zh: "地点为 {开始 · city}，未来三天：得到气温和降雨。",
  },
  TuShare: {
    en: "Reports of a source between two dates, only those with a word.",
    zh: "某个来源在两个日期之间的资讯，只保留包含关键词的。",
  },
  File: {
    en: "Drop a PDF on the page to try the pipeline; in a dataset each uploaded document starts here.",
    zh: "把一个 PDF 拖到页面上即可试用流水线；在数据集中，每个上传的文档从这里开始。",
  },
  Parser: {
    en: "PDF as Markdown by layout, Word as JSON: headings, tables and text for the next step.",
    zh: "PDF 按版面读成 Markdown，Word 读成 JSON：标题、表格和文字交给下一步。",
  },
  TokenChunker: {
    en: "512 tokens with 10 % overlap: a manual of 40 pages becomes about 60 chunks.",
    zh: "512 个词元，重叠 10%：一本 40 页的手册约成为 60 个片段。",
  },
  TitleChunker: {
    en: "Down to level 2 of Markdown headings: each section becomes a chunk with the path of its headings.",
    zh: "按 Markdown 标题切到第 2 级：每一节成为一个片段，并带有标题路径。",
  },
  Extractor: {
    en: "Write into “questions”: a model notes for each chunk which questions it answers, and searches find it by " +
      "them.",
    zh: "写入“questions”：模型为每个片段写下它能回答的问题，搜索时可按这些问题找到它。",
  },
  Tokenizer: {
    en: "Words and meaning: chunks are found by the words they have and by what they mean.",
    zh: "同时按词语和含义：既能按片段中的词找到，也能按意思找到。",
  },
  Compiler: {
    en: "A step of RAGFlow that changes nothing here: chunks go on as they came.",
    zh: "RAGFlow 中的一个步骤，在这里不做改动：片段原样传给下一步。",
  },
};
