// Tells Pilothouse what happens in opencode's sessions, and gives its prompts the answer of a person at Pilothouse's console.
// Without Pilothouse it does nothing; whatever fails, opencode's own dialog stands. It opens no port.
// Calls and prompts that may be open at once; further ones are opencode's alone.
const MOST = 256
// How much later than a prompt its call may be told.
const LATE_MS = 300

async function tui(api) {
  const began = Date.now()
  const parents = new Map()
  const users = new Map()
  const calls = new Map()
  const asked = new Map()
  const early = new Map()

  function tell(report) {
    return startHook(report, api.state.path.directory || process.cwd())
  }

  function root(session) {
    let at = session
    for (let depth = 0; depth < 9; depth++) {
      const above = parents.get(at) ?? api.state.session.get(at)?.parentID
      if (!above) break
      at = above
    }
    return at
  }

  function report(event, session, more) {
    return { event, session: root(session), own: session, mode: users.get(session)?.agent, ...more }
  }

  // The call with its input, which may be told a little later than the prompt about it.
  function whole(id) {
    const call = calls.get(id)
    if (!call || Object.keys(call.input ?? {}).length) return Promise.resolve(call)
    return new Promise((resolve) => {
      early.set(id, resolve)
      setTimeout(() => resolve(call), LATE_MS)
    }).finally(() => early.delete(id))
  }

  function on(type, handle) {
    api.event.on(type, (event) => {
      try {
        handle(event, event.properties)
      } catch {}
    })
  }

  on("session.created", (event, { info }) => {
    if (info.parentID) parents.set(info.id, info.parentID)
    else tell(report(event, info.id))
  })
  on("session.deleted", (event, { info }) => {
    if (!info.parentID) tell(report(event, info.id))
    parents.delete(info.id)
    users.delete(info.id)
  })
  on("session.status", (event, { sessionID, status }) => {
    if (status.type === "idle") tell(report(event, sessionID))
  })
  on("message.updated", (event, { info }) => {
    const { id, sessionID, role, agent, model, time } = info
    if (role !== "user" || users.get(sessionID)?.id === id || time.created < began) return
    users.set(sessionID, { id, agent, model })
    tell(report(event, sessionID))
  })
  on("message.part.updated", (event, { part }) => {
    if (part.type !== "tool") return
    const { status, input } = part.state
    if (status === "pending" || status === "running") {
      if (!calls.has(part.callID) && calls.size >= MOST) return
      const call = structuredClone({ tool: part.tool, input })
      calls.set(part.callID, call)
      if (status === "running") early.get(part.callID)?.(call)
      return
    }
    if (!calls.delete(part.callID)) return
    tell(report(event, part.sessionID)).answer.then((answer) => {
      const { agent, model } = users.get(part.sessionID) ?? {}
      if (typeof answer?.words !== "string") return
      return api.client.session.promptAsync({
        sessionID: part.sessionID, agent, model, parts: [{ type: "text", text: answer.words }],
      })
    }).catch(() => {})
  })
  on("question.asked", (event, { sessionID }) => tell(report(event, sessionID)))
  on("permission.asked", (event, request) => {
    if (asked.has(request.id) || asked.size >= MOST) return
    const prompt = { request: structuredClone(request), isOurs: false }
    asked.set(request.id, prompt)
    whole(request.tool?.callID).then(async (call) => {
      if (!asked.has(request.id)) return
      const { child, answer } = tell(report(event, request.sessionID, { call }))
      Object.assign(prompt, { call, child })
      const { reply, message } = (await answer) ?? {}
      if (!reply || !asked.has(request.id)) return
      prompt.isOurs = true
      await api.client.permission.reply({ requestID: request.id, reply, message })
    }).catch(() => {})
  })
  on("permission.replied", (event, { requestID }) => {
    const prompt = asked.get(requestID)
    if (!asked.delete(requestID) || prompt.isOurs || !prompt.child) return
    const { request, call, child } = prompt
    tell(report(event, request.sessionID, { request, call })).answer.then(() => child.kill())
  })
  api.lifecycle.onDispose(() => {
    for (const { child } of asked.values()) child?.kill()
  })
}

export default { id: "pilothouse", tui }
