// The texts of the sample data, in both languages.

/** sampleName is the title of the dataset and of its canvas. */
export const sampleName = { en: "Sample: Outdoor shop", zh: "示例：户外用品店" };

/** files are the documents, by name. */
export const files: Record<"en" | "zh", Record<string, string>> = {
  en: {
    "returns.md": `# Returns

Unused goods can be returned within 30 days with the receipt. Shoes may be tried on indoors.

## Refunds

Refunds are paid to the card that was used within five working days after the goods have arrived.

## What cannot be returned

Opened gas cartridges, climbing ropes that were used, and gift cards are not taken back.
`,
    "delivery.md": `# Delivery

Orders before 2 p.m. leave the warehouse on the same day. Delivery takes two to three working days.

## Costs

Delivery costs 4.90 euros and is free from 60 euros. Kayaks and roof boxes are delivered for 39 euros.

## Pickup

Orders can be picked up in the shop after two hours. They are kept there for seven days.
`,
    "tents.md": `# Choosing a tent

The Fjord 2 weighs 1.9 kg and is for two people and three seasons. Its water column is 4,000 mm.

The Summit 3 weighs 3.4 kg and stands in snow and storms. Its water column is 8,000 mm.

## Care

Dry a tent before it is packed. Wash it by hand with lukewarm water, never in a machine.
`,
  },
  zh: {
    "退货.md": `# 退货

未使用的商品可在 30 天内凭收据退货。鞋子可以在室内试穿。

## 退款

我们收到商品后，五个工作日内退款到原支付卡。

## 不能退货的商品

已打开的气罐、用过的攀岩绳和礼品卡不能退货。
`,
    "配送.md": `# 配送

下午两点前的订单当天发货，两到三个工作日送达。

## 费用

运费 4.90 欧元，满 60 欧元免运费。皮划艇和车顶箱的运费为 39 欧元。

## 自提

下单两小时后可到店自提，商品保留七天。
`,
    "帐篷.md": `# 选购帐篷

峡湾 2 重 1.9 公斤，适合两人和三季使用，防水指数 4000 毫米。

山巅 3 重 3.4 公斤，可在雪地和暴风中使用，防水指数 8000 毫米。

## 保养

收纳前先晾干帐篷。用温水手洗，不要机洗。
`,
  },
};

/** words are the texts of the dataset and of the canvas. */
export const words = {
  en: {
    about: "Three made-up documents to try answers with sources.",
    greeting: "I answer from the documents of a made-up outdoor shop.",
    questions: ["How long can I return shoes?", "What does delivery cost?", "Which tent stands in snow?"],
    prompt: "Answer from these passages only, in the language of the question. If they have no answer, say so.",
    found: "The documents say:",
    nothing: "The documents have nothing about that.",
    search: "Search the documents", answer: "Write the answer", reply: "Reply",
  },
  zh: {
    about: "三篇虚构的文档，用来体验带出处的回答。",
    greeting: "我根据一家虚构的户外用品店的文档回答问题。",
    questions: ["鞋子多久之内可以退货？", "运费是多少？", "哪款帐篷可以在雪地里用？"],
    prompt: "只根据以下内容、用提问的语言回答；内容里没有答案时如实说明。",
    found: "文档中的内容：",
    nothing: "文档中没有相关内容。",
    search: "检索文档", answer: "撰写回答", reply: "回复",
  },
};
