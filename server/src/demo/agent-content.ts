import type { AppScope, Manifest, NewChanges } from '@baton/protocol'
import { listenUrl } from '@baton/protocol'
import type { PersonKey, TeamKey } from './content.ts'
import { action, failure, planOf, question, response, type Step, thought } from './script.ts'

// The agent apps of the demo, and what they have done in the six weeks before the first start.

const scopes: AppScope[] = ['read', 'write', 'app:assignable', 'app:mentionable']

/** Both listen in place of a URL, so no delivery leaves the process. Nothing ever listens for Night Shift. */
const manifestOf = (name: string, description: string): Manifest => ({
  schemaVersion: '1.0.0',
  name,
  description,
  developer: { name: 'Harbor Coffee' },
  oauth: { redirect_uris: [`${listenUrl}callback`], scopes },
  webhook: { url: listenUrl },
})

export const scout = manifestOf('Scout', 'Looks into bugs, asks what it needs to know and reports what it found.')
export const nightShift = manifestOf('Night Shift', 'Works at night, on a machine that is switched off during the day.')

/** How a session of the past went. */
export type Outcome = 'finished' | 'answered' | 'failed' | 'stopped' | 'stale'

export interface PastWork {
  team: Exclude<TeamKey, 'DES'>
  title: string
  by: PersonKey
  outcome: Outcome
  /** When a person closed the issue, in hours after its creation; without it, the issue is still open. */
  doneAfterHours?: number
}

/** Oldest first. */
// biome-ignore format: one line a session
export const pastWork: PastWork[] = [
  { team: 'ENG', title: 'Order confirmation shows the wrong weekday', by: 'tomas', outcome: 'finished', doneAfterHours: 30 },
  { team: 'SUP', title: 'Which customers got two parcels in September?', by: 'priya', outcome: 'answered', doneAfterHours: 9 },
  { team: 'ENG', title: 'Build fails on a clean machine', by: 'jonas', outcome: 'failed', doneAfterHours: 80 },
  { team: 'ENG', title: 'Remove the unused coupon table', by: 'mei', outcome: 'finished', doneAfterHours: 52 },
  { team: 'ENG', title: 'Currency is missing on the refund page', by: 'tomas', outcome: 'answered', doneAfterHours: 28 },
  { team: 'ENG', title: 'Newsletter sign-up accepts an empty address', by: 'jonas', outcome: 'finished', doneAfterHours: 20 },
  { team: 'SUP', title: 'Summarize the complaints about the new tins', by: 'tomas', outcome: 'finished', doneAfterHours: 26 },
  { team: 'ENG', title: 'Old prices stay in the cache for a day', by: 'mei', outcome: 'stopped', doneAfterHours: 150 },
  { team: 'ENG', title: 'Typo in the terms of delivery', by: 'jonas', outcome: 'finished', doneAfterHours: 4 },
  { team: 'ENG', title: 'Health check of the image server', by: 'tomas', outcome: 'answered', doneAfterHours: 71 },
  { team: 'SUP', title: 'Find every mention of the old phone number', by: 'priya', outcome: 'finished', doneAfterHours: 7 },
  { team: 'ENG', title: 'App shows the cart icon twice on tablets', by: 'mei', outcome: 'failed', doneAfterHours: 96 },
  { team: 'ENG', title: 'Delivery fee is rounded down', by: 'tomas', outcome: 'answered', doneAfterHours: 31 },
  { team: 'ENG', title: 'Update the licenses page', by: 'jonas', outcome: 'finished', doneAfterHours: 15 },
  { team: 'ENG', title: 'Stock page is slow for more than 500 articles', by: 'jonas', outcome: 'answered', doneAfterHours: 120 },
  { team: 'SUP', title: 'Draft an answer about decaf beans', by: 'priya', outcome: 'stopped', doneAfterHours: 5 },
  { team: 'ENG', title: 'Test data contains a real address', by: 'tomas', outcome: 'finished', doneAfterHours: 12 },
  { team: 'ENG', title: 'Warn when a voucher expires tomorrow', by: 'mei', outcome: 'answered', doneAfterHours: 90 },
  { team: 'ENG', title: 'Log of the mail queue has no time zone', by: 'jonas', outcome: 'finished', doneAfterHours: 18 },
  { team: 'ENG', title: 'Export of orders lacks the postcode', by: 'tomas', outcome: 'stale', doneAfterHours: 140 },
  { team: 'SUP', title: 'List the orders affected by the strike', by: 'priya', outcome: 'finished', doneAfterHours: 6 },
  { team: 'ENG', title: 'Product names are cut off on receipts', by: 'mei', outcome: 'answered', doneAfterHours: 36 },
  { team: 'ENG', title: 'Rename the warehouse in the settings', by: 'jonas', outcome: 'finished', doneAfterHours: 10 },
  { team: 'ENG', title: 'Reproduce the crash on the order page', by: 'tomas', outcome: 'failed', doneAfterHours: 44 },
]

export const pastQuestion = question('There are two places where this can be fixed. Which one?', [
  { value: 'shop', label: 'In the shop' },
  { value: 'app', label: 'In the app' },
])

/** The activities of a session of the past. In `answered`, a person replies after the question. */
export const pastActivities: Record<Outcome, readonly Step['activity'][]> = {
  finished: [
    thought('I read the issue first.'),
    action('Searched the code', 'words of the title', 'Two files.'),
    response('Done. The change is one line, and the tests pass.'),
  ],
  answered: [thought('I read the issue first.'), pastQuestion, response('Done, as you chose. The tests pass.')],
  failed: [
    thought('I read the issue first.'),
    failure('I could not reproduce it in three attempts.', 'not_reproduced'),
  ],
  stopped: [thought('I read the issue first.'), response('Stopped. I made no further change.')],
  stale: [thought('I read the issue first.')],
}

/** A session that the viewer finds on the board. */
export interface StagedWork {
  /** The title of an issue of the demo. */
  title: string
  by: PersonKey
  agent: 'scout' | 'night shift'
  /** Before the first start. */
  minutesAgo: number
  plan?: ReturnType<typeof planOf>
  activities: readonly Step['activity'][]
  /** The person who opened it stops it before its last activity. */
  stopped?: true
  changes?: true
}

/** The issue that the show is about. */
export const showTitle = 'Billing job must skip paused subscriptions'

const triagePlan = ['Read the issue', 'Reproduce it', 'Find the cause', 'Propose a fix']

/** Oldest first; the show follows them. */
export const stagedWork: StagedWork[] = [
  {
    title: 'Pay button can be pressed twice',
    by: 'ada',
    agent: 'scout',
    minutesAgo: 26 * 60,
    plan: planOf(triagePlan, 4),
    activities: [
      thought('I read the issue and the comment about the idempotency key.'),
      action('Reproduced it', 'slow network, two clicks', 'Two orders with the same cart.'),
      response(
        'The button is disabled after the first click, and every order has an idempotency key, so the server creates it once.\n\n```ts\nsubmit(order, { idempotencyKey: cart.id })\n```',
      ),
    ],
    changes: true,
  },
  {
    title: 'Email queue stops after an invalid address',
    by: 'mei',
    agent: 'scout',
    minutesAgo: 20 * 60,
    plan: planOf(triagePlan, 1),
    activities: [
      thought('I send a mail to an invalid address on the test system.'),
      action('Started the test system', 'mail queue', 'Its certificate expired yesterday.'),
      failure('I cannot reproduce it: the test system does not start with an expired certificate.', 'no_test_system'),
    ],
  },
  {
    title: 'Checkout fails with a card from a Swiss bank',
    by: 'tomas',
    agent: 'scout',
    minutesAgo: 8 * 60,
    plan: planOf(triagePlan, 4),
    activities: [
      thought('The comments say that the session cookie is missing after the redirect.'),
      action('Read', 'the cookie settings of the shop', 'SameSite=Strict, so the browser leaves it out.'),
      response(
        'The cookie needs `SameSite=Lax`: the bank redirects from another site. I propose a change of one word.',
      ),
    ],
  },
  {
    title: 'Cart is empty after a lost connection',
    by: 'mei',
    agent: 'scout',
    minutesAgo: 3 * 60,
    plan: planOf(triagePlan, 1),
    activities: [
      thought('I follow the steps in flight mode.'),
      action('Installed the app', '1.9.3 on an emulator', 'Waiting for the download of the system image.'),
    ],
  },
  {
    title: 'Cut-off time for same-day dispatch must be a setting',
    by: 'jonas',
    agent: 'scout',
    minutesAgo: 95,
    plan: planOf(triagePlan, 2),
    activities: [
      thought('17:00 is hard-coded in three places.'),
      action('Searched the code', '17:00', 'Three files, one of them a test.'),
      response('Stopped. I made no further change.'),
    ],
    stopped: true,
  },
  {
    title: 'Invoices show the wrong tax for Austria',
    by: 'ada',
    agent: 'scout',
    minutesAgo: 24,
    plan: planOf(triagePlan, 3),
    activities: [
      thought('The invoice service has a table of rates. I compare it with the law.'),
      action('Read', 'invoice/rates.ts', 'Austria has one rate, 20 %. Coffee beans have 10 %.'),
      question('The rate was wrong on 212 invoices. Should I only fix the rate, or also list those invoices?', [
        { value: 'fix', label: 'Fix the rate', description: 'New invoices are right; the old ones stay.' },
        { value: 'list', label: 'Fix it and list them', description: 'I add the 212 invoice numbers as a comment.' },
        { value: 'wait', label: 'Wait', description: 'Ask the accountant first.' },
      ]),
    ],
  },
  {
    title: 'Upgrade the shop to the new payment library',
    by: 'tomas',
    agent: 'night shift',
    minutesAgo: 5,
    activities: [],
  },
]

/** An issue about which the viewer asked Scout. */
export interface SuggestedWork {
  title: string
  /** The value of `duplicate_of` is the title of the other issue. */
  suggestions: { field: 'priority' | 'type' | 'duplicate_of'; value: string; reason: string }[]
  answer: string
}

export const suggestedWork: SuggestedWork[] = [
  {
    title: 'App loses the cart when offline',
    suggestions: [
      {
        field: 'duplicate_of',
        value: 'Cart is empty after a lost connection',
        reason: 'Both lose the cart without a connection, in the same version.',
      },
      { field: 'priority', value: 'high', reason: 'The other one is high, and a customer reported this one.' },
    ],
    answer: 'This seems to be the cart that is empty after a lost connection. My suggestions wait for you.',
  },
  {
    title: 'Search ignores words with accents',
    suggestions: [
      { field: 'priority', value: 'low', reason: 'Searches with accents are 2 % of all, and "decaf" is low, too.' },
    ],
    answer: 'It is a bug of the search, and a small one. My suggestion waits for you.',
  },
]

/** Git's diff of a file with one hunk. Each line begins with a space, + or -. */
function fileOf(path: string, lines: readonly string[]): NewChanges['files'][number] {
  const without = (sign: string) => lines.filter((line) => line[0] !== sign).length
  const [additions, deletions] = [lines.length - without('+'), lines.length - without('-')]
  const hunk = `@@ -1,${without('+')} +1,${without('-')} @@`
  const patch = [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, hunk, ...lines, ''].join('\n')
  const isNew = lines.every((line) => line.startsWith('+'))
  return { path, old_path: null, status: isNew ? 'added' : 'modified', additions, deletions, patch, omitted: null }
}

const files = [
  fileOf('src/checkout/pay-button.tsx', [
    ' export function PayButton({ order, onPaid }: Props) {',
    '-  const pay = () => submit(order).then(onPaid)',
    '-  return <button onClick={pay}>Pay</button>',
    '+  const [isPaying, setPaying] = useState(false)',
    '+  const pay = () => {',
    '+    setPaying(true)',
    '+    submit(order, { idempotencyKey: order.cartId }).then(onPaid, () => setPaying(false))',
    '+  }',
    '+  return (',
    '+    <button onClick={pay} disabled={isPaying}>',
    '+      Pay',
    '+    </button>',
    '+  )',
    ' }',
  ]),
  fileOf('src/orders/create.ts', [
    ' export async function createOrder(db: Db, order: NewOrder, key: string) {',
    '-  return db.insert(order)',
    '+  const existing = await db.findByKey(key)',
    '+  return existing ?? db.insert({ ...order, key })',
    ' }',
  ]),
  fileOf('src/orders/create.test.ts', [
    "+test('the same key creates one order', async ({ db, order }) => {",
    "+  const [first, second] = [await createOrder(db, order, 'k'), await createOrder(db, order, 'k')]",
    '+  expect(second.id).toBe(first.id)',
    '+})',
  ]),
]
const sum = (of: 'additions' | 'deletions') => files.reduce((total, file) => total + (file[of] ?? 0), 0)

/** The changes of the session about the pay button. */
export const stagedChanges: NewChanges = {
  repository: 'harbor/shop',
  remote_url: null,
  base: { ref: 'main', commit: '4f1d0c2a9b8e7f6d5c4b3a291807f6e5d4c3b2a1' },
  head_commit: '9c8b7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e2d1c0b',
  branch: 'scout/pay-once',
  pushed: false,
  files_total: files.length,
  additions: sum('additions'),
  deletions: sum('deletions'),
  files,
}

export const stagedLinks = [{ label: 'Pull request', url: 'https://code.example.com/harbor/shop/pull/7' }]
