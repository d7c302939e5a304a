import { signedHeaders } from '@baton/sdk'
import { type Answer, accepted, describe, fakeSession, ping, type Receiver, refused, send, sign } from './probe.ts'

export interface Fault {
  fault: string
  advice: string
}

interface Check {
  name: string
  title: string
  /** Checks without which this one shows nothing. It is skipped if one of them failed. */
  needs: readonly string[]
  /** `fault` is null if the receiver passes. */
  run(receiver: Receiver): Promise<{ fault: Fault | null; answers: Answer[] }>
}

export const checks: readonly Check[] = [
  mustAccept(
    'valid',
    'accepts a signed delivery',
    async (to) => [await send(to, sign(to, ping()))],
    (first) => ({
      fault: `answered ${describe(first)} to a signed delivery`,
      advice: 'Check URL and secret. The key is the whole secret, including pwhsec_.',
    }),
  ),
  mustAccept(
    'raw_bytes',
    'verifies the raw bytes',
    async (to) => [await send(to, unusuallySerialized(to))],
    (first) => ({
      fault: `answered ${describe(first)} to a signed body with unusual spaces and escapes`,
      advice: 'It verifies a body that was parsed and serialized again. Verify the raw body.',
    }),
  ),
  mustRefuse(
    'bad_signature',
    'refuses a wrong signature',
    (to) => {
      const { body, headers } = sign(to, ping())
      return { body, headers: { ...headers, 'svc-signature': headers['svc-signature']?.replace(/^./, flip) ?? '' } }
    },
    'does not check the signature',
    'Compare Svc-Signature with the HMAC-SHA256 of the raw body, and answer 401 if they differ.',
  ),
  mustRefuse(
    'no_signature',
    'refuses a delivery without signature',
    (to) => {
      const { body, headers } = sign(to, ping())
      const { 'svc-signature': _, ...without } = headers
      return { body, headers: without }
    },
    'accepts unsigned deliveries',
    'Answer 401 if Svc-Signature is missing.',
  ),
  mustRefuse(
    'changed_body',
    'refuses a changed body',
    (to) => {
      const { headers } = sign(to, ping())
      return { body: sign(to, ping()).body, headers }
    },
    'does not verify the whole body',
    'Compute the HMAC of the whole body, not of a part.',
  ),
  mustRefuse(
    'old_timestamp',
    'refuses a delivery that is five minutes old',
    (to) => sign(to, ping(), minutesAgo(5)),
    'accepts old deliveries',
    'Refuse a delivery whose webhook_timestamp differs by more than 60 s.',
  ),
  mustRefuse(
    'timestamp_header',
    'uses the signed time, not the header',
    (to) => {
      const { body, headers } = sign(to, ping(), minutesAgo(5))
      return { body, headers: { ...headers, 'svc-timestamp': String(Date.now()) } }
    },
    'trusts Svc-Timestamp, which is not signed',
    'Use webhook_timestamp in the body; anyone can set the header.',
    // A receiver that checks no time trusts no header either.
    ['valid', 'old_timestamp'],
  ),
  mustAccept(
    'duplicate',
    'answers 2xx to a duplicate delivery',
    async (to) => {
      const event = sign(to, fakeSession().created())
      return [await send(to, event), await send(to, event)]
    },
    (first, second) => ({
      fault: `answered ${describe(first)} and then ${describe(second ?? first)} to the same delivery`,
      advice: 'Remember data.event_id, ignore duplicates and answer 2xx; otherwise Baton keeps retrying.',
    }),
  ),
  mustAccept(
    'reordered',
    'answers 2xx to a message that arrives before its session',
    async (to) => {
      const session = fakeSession()
      return [await send(to, sign(to, session.prompted())), await send(to, sign(to, session.created()))]
    },
    (first, second) => ({
      fault: `answered ${describe(first)} to prompted before created, then ${describe(second ?? first)} to created`,
      advice: 'Deliveries arrive out of order. Answer 2xx and keep the message until created arrives.',
    }),
  ),
  mustAccept(
    'stop_first',
    'answers 2xx to a Stop that arrives before its session',
    async (to) => {
      const session = fakeSession()
      return [await send(to, sign(to, session.stop())), await send(to, sign(to, session.created()))]
    },
    (first, second) => ({
      fault: `answered ${describe(first)} to Stop before created, then ${describe(second ?? first)} to created`,
      advice: 'Answer 2xx to both, remember the Stop and do not start the work.',
    }),
  ),
]

/** Requirements that cannot be tested from outside. */
export const unseen: readonly string[] = [
  'whether signatures are compared in constant time (timingSafeEqual)',
  'whether a duplicate is processed twice, and whether work starts after an earlier Stop',
  'whether messages of one session are processed in order',
  'whether work continues after the answer and survives a crash',
]

function mustAccept(
  name: string,
  title: string,
  sendAll: (to: Receiver) => Promise<Answer[]>,
  faultOf: (first: Answer, second?: Answer) => Fault,
): Check {
  return {
    name,
    title,
    needs: ['valid'],
    async run(to) {
      const answers = await sendAll(to)
      const [first, second] = answers as [Answer, Answer?]
      if (answers.every(accepted)) return { fault: null, answers }
      return { fault: redirects(answers) ?? faultOf(first, second), answers }
    },
  }
}

function mustRefuse(
  name: string,
  title: string,
  forge: (to: Receiver) => Parameters<typeof send>[1],
  problem: string,
  advice: string,
  // A receiver that refuses everything passes every such check.
  needs = ['valid'],
): Check {
  return {
    name,
    title,
    needs,
    async run(to) {
      const answer = await send(to, forge(to))
      if (refused(answer)) return { fault: null, answers: [] }
      if (accepted(answer))
        return { fault: { fault: `${problem} (answered ${describe(answer)})`, advice }, answers: [] }
      const notRefused = {
        fault: `answered ${describe(answer)} instead of refusing`,
        advice: `${advice} Answer with a 4xx status.`,
      }
      return { fault: redirects([answer]) ?? notRefused, answers: [] }
    },
  }
}

function redirects(answers: Answer[]): Fault | null {
  const redirect = answers.find(({ status }) => status !== null && status >= 300 && status < 400)
  if (!redirect) return null
  return {
    fault: `redirects (${redirect.status}${redirect.location ? ` to ${redirect.location}` : ''})`,
    advice: 'Baton does not follow redirects; the delivery fails. Register the final URL.',
  }
}

/** The same JSON with other spaces and escapes. */
function unusuallySerialized(to: Receiver) {
  const event = JSON.parse(Buffer.from(sign(to, ping()).body).toString())
  const text = JSON.stringify(event, null, 1).replace('baton doctor', '\\u0062aton doctor')
  const body = new Uint8Array(Buffer.from(`${text}\n`))
  return { body, headers: signedHeaders(body, 'Ping', { secret: to.secret }) }
}

const flip = (digit: string) => (digit === '0' ? '1' : '0')
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
