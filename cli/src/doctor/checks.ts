import { signedHeaders } from '@baton/sdk'
import { type Answer, accepted, imaginarySession, ping, type Receiver, refused, said, send, sign } from './probe.ts'

export interface Fault {
  fault: string
  advice: string
}

interface Check {
  name: string
  title: string
  /** Null when the receiver does what it has to. */
  run(receiver: Receiver): Promise<{ fault: Fault | null; answers: Answer[] }>
}

/** 4.7, 5.8, 5.9: what a receiver has to do, one after the other. */
export const checks: readonly Check[] = [
  mustAccept(
    'valid',
    'accepts a delivery that is signed',
    async (to) => [await send(to, sign(to, ping()))],
    (first) => ({
      fault: `answered ${said(first)} to a signed delivery`,
      advice: 'Is it the right address and secret? The key is the whole secret, pwhsec_ included.',
    }),
  ),
  mustAccept(
    'raw_bytes',
    'verifies the bytes as they came',
    async (to) => [await send(to, oddlyWritten(to))],
    (first) => ({
      fault: `answered ${said(first)} to signed bytes with spaces and escapes that JSON writers leave out`,
      advice: 'It verifies what it wrote out again after parsing. Verify the raw body.',
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
    'Compare Svc-Signature with the HMAC-SHA256 of the raw body and answer 401.',
  ),
  mustRefuse(
    'no_signature',
    'refuses a delivery without signature',
    (to) => {
      const { body, headers } = sign(to, ping())
      const { 'svc-signature': _, ...without } = headers
      return { body, headers: without }
    },
    'takes deliveries that nobody signed',
    'A missing Svc-Signature is answered 401.',
  ),
  mustRefuse(
    'changed_body',
    'refuses another body under a valid signature',
    (to) => {
      const { headers } = sign(to, ping())
      return { body: sign(to, ping()).body, headers }
    },
    'does not verify the body that it takes',
    'The signature is over the whole body, not over part of it.',
  ),
  mustRefuse(
    'old_timestamp',
    'refuses what was signed five minutes ago',
    (to) => sign(to, ping(), minutesAgo(5)),
    'takes old deliveries',
    'Refuse when webhook_timestamp in the body is more than 60 s away.',
  ),
  mustRefuse(
    'timestamp_header',
    'goes by the signed time, not by the header',
    (to) => {
      const { body, headers } = sign(to, ping(), minutesAgo(5))
      return { body, headers: { ...headers, 'svc-timestamp': String(Date.now()) } }
    },
    'believes Svc-Timestamp, which is not signed',
    'Use webhook_timestamp in the body; anybody can set the header.',
  ),
  mustAccept(
    'duplicate',
    'answers 2xx to a delivery that comes twice',
    async (to) => {
      const event = sign(to, imaginarySession().created())
      return [await send(to, event), await send(to, event)]
    },
    (first, second) => ({
      fault: `answered ${said(first)} and then ${said(second ?? first)} to the same delivery`,
      advice: 'Remember data.event_id, do nothing the second time, and answer 2xx, or it comes again and again.',
    }),
  ),
  mustAccept(
    'reordered',
    'answers 2xx to a message that comes before its session',
    async (to) => {
      const session = imaginarySession()
      return [await send(to, sign(to, session.prompted())), await send(to, sign(to, session.created()))]
    },
    (first, second) => ({
      fault: `answered ${said(first)} to prompted before created, then ${said(second ?? first)} to created`,
      advice: 'Deliveries overtake each other. Keep the message until created has come, and answer 2xx.',
    }),
  ),
  mustAccept(
    'stop_first',
    'answers 2xx to a Stop that comes before its session',
    async (to) => {
      const session = imaginarySession()
      return [await send(to, sign(to, session.stop())), await send(to, sign(to, session.created()))]
    },
    (first, second) => ({
      fault: `answered ${said(first)} to Stop before created, then ${said(second ?? first)} to created`,
      advice: 'Remember the Stop, answer 2xx to both, and do not begin.',
    }),
  ),
]

/** What nobody can see from outside. */
export const unseen: readonly string[] = [
  'whether signatures are compared in constant time (timingSafeEqual)',
  'whether a duplicate is worked on twice, and whether work begins after a Stop that came first',
  'whether messages of one session are worked on in their order',
  'whether work goes on after the answer, and is not lost with the process',
]

function mustAccept(
  name: string,
  title: string,
  fire: (to: Receiver) => Promise<Answer[]>,
  faultOf: (first: Answer, second?: Answer) => Fault,
): Check {
  return {
    name,
    title,
    async run(to) {
      const answers = await fire(to)
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
): Check {
  return {
    name,
    title,
    async run(to) {
      const answer = await send(to, forge(to))
      if (refused(answer)) return { fault: null, answers: [] }
      if (accepted(answer)) return { fault: { fault: `${problem} (answered ${said(answer)})`, advice }, answers: [] }
      const crashed = {
        fault: `answered ${said(answer)} instead of refusing`,
        advice: `${advice} A 4xx, not an error.`,
      }
      return { fault: redirects([answer]) ?? crashed, answers: [] }
    },
  }
}

function redirects(answers: Answer[]): Fault | null {
  const moved = answers.find(({ status }) => status !== null && status >= 300 && status < 400)
  if (!moved) return null
  return {
    fault: `redirects (${moved.status}${moved.location ? ` to ${moved.location}` : ''})`,
    advice: 'Deliveries follow no redirect, and one that meets any has failed. Register the address it leads to.',
  }
}

/** The same JSON as other writers might put it. */
function oddlyWritten(to: Receiver) {
  const event = JSON.parse(Buffer.from(sign(to, ping()).body).toString())
  const text = JSON.stringify(event, null, 1).replace('baton doctor', '\\u0062aton doctor')
  const body = new Uint8Array(Buffer.from(`${text}\n`))
  return { body, headers: signedHeaders(body, 'Ping', { secret: to.secret }) }
}

const flip = (digit: string) => (digit === '0' ? '1' : '0')
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
