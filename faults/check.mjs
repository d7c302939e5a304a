// Checks the recorded deliveries against the requests that arrived at the receiver.

/** Returns one line for each problem. */
export function problemsOf(evidence) {
  const arrived = groupBy(evidence.requests, ({ deliveryId }) => deliveryId)
  return [
    ...lossesOf(evidence),
    ...mismatchesOf(evidence, arrived),
    ...evidence.deliveries.flatMap((delivery) => attemptProblemsOf(delivery, evidence.retryDelaysMs)),
    ...evidence.requests.filter(({ signed }) => !signed).map(({ deliveryId }) => `${deliveryId} has a bad signature`),
  ]
}

/** Number of requests without a recorded attempt: their worker died before it wrote the attempt. */
export function duplicatesOf({ deliveries, requests }) {
  const arrived = groupBy(requests, ({ deliveryId }) => deliveryId)
  return deliveries.reduce(
    (sum, { id, attempts }) => sum + Math.max(0, (arrived.get(id)?.length ?? 0) - attempts.length),
    0,
  )
}

function lossesOf({ acknowledged, issueIds, webhookIds, deliveries, requests }) {
  const problems = []
  const kept = new Set(issueIds)
  for (const id of acknowledged) if (!kept.has(id)) problems.push(`${id} was acknowledged and is lost`)

  const pair = (webhookId, issueId) => `${issueId} at ${webhookId}`
  const byPair = groupBy(requests, ({ webhookId, issueId }) => pair(webhookId, issueId))
  for (const webhookId of webhookIds) {
    const recorded = deliveries.filter((delivery) => delivery.webhookId === webhookId).length
    if (recorded !== kept.size) problems.push(`${webhookId} has ${recorded} deliveries for ${kept.size} issues`)
    for (const issueId of kept) {
      const ids = new Set(byPair.get(pair(webhookId, issueId))?.map(({ deliveryId }) => deliveryId))
      if (ids.size === 0) problems.push(`${pair(webhookId, issueId)} never arrived`)
      if (ids.size > 1) problems.push(`${pair(webhookId, issueId)} arrived as ${[...ids].join(' and ')}`)
    }
  }
  for (const { issueId } of requests) if (!kept.has(issueId)) problems.push(`${issueId} arrived and does not exist`)
  return problems
}

function mismatchesOf({ deliveries, requests }, arrived) {
  const problems = []
  const known = new Set(deliveries.map(({ id }) => id))
  for (const { deliveryId } of requests) {
    if (!known.has(deliveryId)) problems.push(`${deliveryId} arrived and is not recorded`)
  }
  for (const { id, status, attempts } of deliveries) {
    const requestsOfIt = arrived.get(id) ?? []
    const answered = attempts.filter(({ http_status }) => http_status !== null).length
    if (requestsOfIt.length === 0) problems.push(`${id} never arrived`)
    if (requestsOfIt.length < answered)
      problems.push(`${id} arrived ${requestsOfIt.length} times, with ${answered} recorded answers`)
    const accepted = requestsOfIt.some(({ answer }) => answer === 200)
    if (status === 'succeeded' && !accepted) problems.push(`${id} is succeeded and was never accepted`)
    // An answer that came too late is recorded as none.
    if (status === 'failed' && accepted && answered === attempts.length)
      problems.push(`${id} is failed and was accepted`)
  }
  return problems
}

function attemptProblemsOf({ id, status, attempts }, retryDelaysMs) {
  const problems = []
  const maxAttempts = retryDelaysMs.length + 1
  if (status !== 'succeeded' && status !== 'failed') problems.push(`${id} is ${status}`)
  const numbers = attempts.map(({ number }) => number).join(', ')
  const expected = attempts.map((_, index) => index + 1).join(', ')
  if (numbers !== expected) problems.push(`${id} has attempts ${numbers}`)
  if (attempts.length > maxAttempts || (status === 'failed' && attempts.length !== maxAttempts))
    problems.push(`${id} is ${status} after ${attempts.length} attempts`)
  const successes = attempts.flatMap(({ reason }, index) => (reason === null ? [index + 1] : []))
  if (successes.join() !== (status === 'succeeded' ? String(attempts.length) : ''))
    problems.push(`${id} is ${status} with success in attempts: ${successes.join(', ') || 'none'}`)
  for (const [index, next] of attempts.slice(1).entries()) {
    const { started_at, duration_ms } = attempts[index]
    const pauseMs = Date.parse(next.started_at) - Date.parse(started_at) - duration_ms
    if (pauseMs < retryDelaysMs[index]) problems.push(`${id} was retried after ${pauseMs} ms`)
  }
  return problems
}

function groupBy(items, keyOf) {
  const groups = new Map()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
