// Tells Pilothouse what happens in pi's session, and gives its model the words of a person at Pilothouse's console. It asks
// nothing and holds nothing, as pi itself; without Pilothouse it does nothing.
import { spawn } from "node:child_process"

const WORDS = "pilothouse hook"

export default function (pi) {
  // Starts our hook with a report; what it prints is an answer.
  function tell(type, event, ctx) {
    let printed = ""
    const report = { type, session: ctx.sessionManager.getSessionId(), event }
    const child = spawn(WORDS[0], WORDS.slice(1), { cwd: ctx.cwd, stdio: ["pipe", "pipe", "ignore"] })
    child.stdout.on("data", (data) => (printed += data))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(report))
    child.unref()
    return new Promise((resolve) => {
      child.on("error", () => resolve())
      child.on("close", () => {
        try {
          resolve(JSON.parse(printed))
        } catch {
          resolve()
        }
      })
    })
  }

  function on(type, handle) {
    pi.on(type, (event, ctx) => {
      try {
        handle(event, ctx)
      } catch {}
    })
  }

  on("session_start", ({ reason }, ctx) => tell("session_start", { reason }, ctx))
  on("before_agent_start", (_, ctx) => tell("before_agent_start", {}, ctx))
  on("agent_settled", (_, ctx) => tell("agent_settled", {}, ctx))
  on("session_shutdown", ({ reason }, ctx) => tell("session_shutdown", { reason }, ctx))
  on("tool_result", ({ toolName, toolCallId, input, content, details, isError }, ctx) => {
    const texts = content.filter((part) => part.type === "text").map((part) => part.text)
    const isCut = Boolean(details?.truncation?.truncated)
    const used = { toolName, toolCallId, input, isError, isCut, text: texts.join("\n") }
    tell("tool_result", used, ctx).then((answer) => {
      if (typeof answer?.words !== "string") return
      pi.sendMessage({ customType: "pilothouse", content: answer.words, display: true }, { deliverAs: "steer" })
    })
  })
}
