// The story that the test tells with the page's module: one charge, a letter that must be decided.

import { connect, decide, record, run } from "./steps.mjs";

const [charge, letter] = process.argv.slice(2);
const client = await connect();
const said = {};

const order = { order: "7781", cents: 2500 };
said.first = await run(client, charge, "charge", order);
said.again = await run(client, charge, "charge", order);
said.other = await run(client, charge, "charge", { ...order, cents: 9900 }).catch((e) => e.message);

const pending = run(client, letter, "letter", { customer: "ada", text: "hello" });
const decision = { verdict: "confirm", by: "ada", note: "in the outbox log", receipt_id: "L-77" };
for (let tries = 0; !said.ruling; tries += 1) {
  try {
    const { version } = await record(client, letter);
    said.ruling = await decide(client, letter, { ...decision, version });
  } catch (notYet) {
    if (tries === 600) throw notYet;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
said.letter = await pending;
console.log(JSON.stringify(said));
await client.connection.close();
