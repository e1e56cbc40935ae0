// Streamable HTTP for a stdio server, one process a session: the conformance kit of MCP speaks nothing else.
//
// usage: node bridge.mjs PORT PROGRAM [ARGUMENT…]
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [port, program, ...words] = process.argv.slice(2);
const sessions = new Map();

function open() {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    const id = JSON.stringify(message.id);
    waiting.get(id)?.(line);
    waiting.delete(id);
  });
  return { child, waiting };
}

function post(request, response, body) {
  const message = JSON.parse(body);
  let id = request.headers["mcp-session-id"];
  if (message.method === "initialize") {
    id = randomUUID();
    sessions.set(id, open());
  }
  const session = sessions.get(id);
  if (!session) return response.writeHead(400).end();
  if (message.method !== undefined && message.id !== undefined) {
    session.waiting.set(JSON.stringify(message.id), (answer) => {
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
      response.end(answer);
    });
  } else {
    response.writeHead(202).end();
  }
  session.child.stdin.write(JSON.stringify(message) + "\n");
}

createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    if (request.method === "POST") return post(request, response, body);
    if (request.method === "DELETE") sessions.get(request.headers["mcp-session-id"])?.child.stdin.end();
    response.writeHead(request.method === "DELETE" ? 200 : 405).end();
  });
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
process.on("exit", () => sessions.forEach((session) => session.child.kill()));
process.on("SIGTERM", () => process.exit());
