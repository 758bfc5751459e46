// Starts npm's oidc-provider on a free loopback port and prints its address. Arguments: the
// client's id and secret, and the address to which it sends browsers back. PKCE is required, and
// groups are a claim of the scope groups. The built-in login page accepts any name.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [id, secret, back, left] = process.argv.slice(2);
const server = createServer((request, response) => handle(request, response));
let handle;
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: id,
        client_secret: secret,
        redirect_uris: [back],
        post_logout_redirect_uris: [left],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    pkce: { required: () => true },
    scopes: ["openid", "profile", "email", "groups"],
    claims: { openid: ["sub"], profile: ["name"], email: ["email"], groups: ["groups"] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        name: `Person ${sub}`,
        email: `${sub}@corp.example`,
        groups: sub === "boss" ? ["it"] : ["staff"],
      }),
    }),
  });
  handle = provider.callback();
  console.log(`issuer ${issuer}`);
});
