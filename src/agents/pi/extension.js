// Tells Pilothouse what happens in pi's session, and gives its model the words of a person at Pilothouse's console. It asks
// nothing and holds nothing, as pi itself; without Pilothouse it does nothing.

export default function (pi) {
  function tell(type, event, ctx) {
    const { child, answer } = startHook({ type, session: ctx.sessionManager.getSessionId(), event }, ctx.cwd)
    child.unref()
    return answer
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
