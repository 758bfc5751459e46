// What the tools for services say of their settings, by the English text of the engine; a part of
// specs.zh.ts.

/** toolSettings are the Chinese texts. */
export const toolSettings: Readonly<Record<string, string>> = {
  "search only these sites": "只搜索这些网站",
  "exclude these sites": "不搜索这些网站",
  "search only these countries": "只搜索这些国家",
  "search only these languages": "只搜索这些语言",
  "seconds for a page": "每个页面的秒数",
  "include title, author and date": "包含标题、作者和日期",
  "language of the pages": "页面的语言",
  "contact e-mail address for the service": "供服务联系的邮箱",
  "Logo position": "徽标位置",
  "left, center or right": "left、center 或 right",
  "Logo width": "徽标宽度",
  "width at most, in inches": "最大宽度，单位英寸",
  "Logo height": "徽标高度",
  "height at most, in inches": "最大高度，单位英寸",
  "Lets a language model read web pages, follow links, submit forms and store files.":
    "让语言模型阅读网页、点击链接、提交表单并保存文件。",
  "form of the text": "文字的格式",
  "language of the text": "原文的语言",
  "language of the translation": "译文的语言",
  "Type": "类型",
  "kind of data": "数据的种类",
  "kind of entries": "条目的种类",
  "codes or prices": "代码或价格",
  "only what contains this": "只要包含它的内容",
  "only what does not contain this": "只要不包含它的内容",
  "kind of account": "账户的种类",
  "now, or days ahead": "现在，或未来天数",
  "source of the news": "新闻的来源",
  "earliest date and time": "最早的日期和时间",
  "latest date and time; empty means now": "最晚的日期和时间；空表示现在",
  "Keyword": "关键词",
  "only what contains this, in place of the query": "只要包含它的内容，代替搜索词",
};
