import type { IssueStatus, IssueType, Priority } from '@baton/protocol'

/** The demo workspace of a first start: a small company that delivers coffee. */

export const demoPassword = 'baton-demo'
export const demoDomain = 'demo.example'

export const workspace = {
  name: 'Harbor Coffee',
  guidance: 'Be brief. Link the issues you mention. Ask before you assume anything about money or deliveries.',
}

export type PersonKey = 'ada' | 'tomas' | 'mei' | 'jonas' | 'priya'

export const people: Record<PersonKey, { name: string; role: 'owner' | 'admin' | 'member' }> = {
  ada: { name: 'Ada Berger', role: 'owner' },
  tomas: { name: 'Tomás Ruiz', role: 'admin' },
  mei: { name: 'Mei Lin', role: 'member' },
  jonas: { name: 'Jonas Falk', role: 'member' },
  priya: { name: 'Priya Nair', role: 'member' },
}

export type TeamKey = 'ENG' | 'DES' | 'SUP'

export const teams: Record<TeamKey, { name: string; members: PersonKey[]; guidance: string; repositories: string[] }> =
  {
    ENG: {
      name: 'Engineering',
      members: ['ada', 'tomas', 'mei', 'jonas'],
      guidance: 'Every change to checkout needs a test that places an order. Name the parts of the app you changed.',
      repositories: ['harbor/shop', 'harbor/app'],
    },
    DES: { name: 'Design', members: ['ada', 'mei', 'priya'], guidance: 'Show before and after.', repositories: [] },
    SUP: {
      name: 'Support',
      members: ['tomas', 'priya'],
      guidance: 'Quote the customer. Never promise a refund.',
      repositories: [],
    },
  }

export const labels = {
  checkout: '#d73a4a',
  app: '#1f6feb',
  delivery: '#8250df',
  accessibility: '#0e8a16',
  performance: '#fbca04',
  wording: '#bf8700',
} as const
type LabelKey = keyof typeof labels

type ProjectKey = 'subscriptions' | 'app'

export const projects: Record<
  ProjectKey,
  {
    title: string
    description: string
    status: 'in_progress' | 'ready'
    health: 'on_track' | 'at_risk'
    lead: PersonKey
    teams: TeamKey[]
    milestones: string[]
  }
> = {
  subscriptions: {
    title: 'Pausable subscriptions',
    description: 'Half of the customers who cancel say that they only wanted a break. Let them pause instead.',
    status: 'in_progress',
    health: 'at_risk',
    lead: 'tomas',
    teams: ['ENG', 'DES', 'SUP'],
    milestones: ['Pause by support', 'Pause by customer'],
  },
  app: {
    title: 'Phone app 2.0',
    description: 'Faster start, one-tap reorder, and a cart that survives a lost connection.',
    status: 'ready',
    health: 'on_track',
    lead: 'mei',
    teams: ['ENG', 'DES'],
    milestones: ['Beta'],
  },
}

export interface DemoIssue {
  team: TeamKey
  title: string
  description?: string
  type?: IssueType
  status?: IssueStatus
  priority?: Priority
  by: PersonKey
  to?: PersonKey
  labels?: LabelKey[]
  project?: ProjectKey
  milestone?: string
  estimate?: number
  /** Titles of other issues. */
  parent?: string
  blocks?: string[]
  /** Comments in order; those after the first are replies to it. */
  thread?: [PersonKey, string][]
}

// biome-ignore format: one line an issue
export const issues: DemoIssue[] = [
  { team: 'ENG', title: 'Pause a subscription from the account page', type: 'feature', status: 'in_progress', priority: 'high', by: 'ada', to: 'tomas', project: 'subscriptions', milestone: 'Pause by customer', labels: ['checkout'], estimate: 16, description: 'The customer chooses one, two or three months. The next delivery moves, and nothing is charged until then.\n\n**Acceptance**\n- The account page shows the end of the pause.\n- The customer can resume early.', thread: [['tomas', 'The billing job assumes one delivery per month. I would change that first.'], ['ada', 'Agreed. Please create a sub-issue for it.'], ['priya', 'Customers ask for this every day, so even one fixed length would help.']] },
  { team: 'ENG', title: 'Billing job must skip paused subscriptions', status: 'in_progress', priority: 'urgent', by: 'tomas', to: 'jonas', project: 'subscriptions', milestone: 'Pause by support', labels: ['checkout'], estimate: 6, parent: 'Pause a subscription from the account page', blocks: ['Pause a subscription from the account page'], description: 'The nightly job charges every subscription that is not canceled. It must skip subscriptions that are paused on that day.' },
  { team: 'ENG', title: 'Support tool: pause a subscription for a customer', type: 'feature', status: 'qa', priority: 'high', by: 'priya', to: 'jonas', project: 'subscriptions', milestone: 'Pause by support', parent: 'Pause a subscription from the account page', description: 'A button and a date on the customer page of the support tool.' },
  { team: 'DES', title: 'Wording for a paused subscription', status: 'todo', by: 'ada', to: 'priya', project: 'subscriptions', milestone: 'Pause by customer', labels: ['wording'], description: '"Paused", "On hold" or "On a break"? The label is shown on the account page, in the app and in the monthly email.', thread: [['priya', 'In their emails, customers call it "on hold".']] },
  { team: 'SUP', title: 'Reply template: how to pause', status: 'backlog', by: 'priya', project: 'subscriptions', labels: ['wording'] },
  { team: 'ENG', title: 'Checkout fails with a card from a Swiss bank', type: 'bug', status: 'todo', priority: 'urgent', by: 'priya', to: 'tomas', labels: ['checkout'], description: 'Steps: put anything in the cart, pay with a PostFinance card.\nExpected: the order is placed. Seen: "Something went wrong", and the customer has to log in again.\nShop 4.12, since last Thursday.', thread: [['priya', 'Three customers so far: Bern, Basel, Thun.'], ['tomas', 'The bank redirects the customer without the session cookie. I am looking into it.']] },
  { team: 'ENG', title: 'Payment with Swiss cards sends people back to the login', type: 'bug', by: 'jonas', labels: ['checkout'], description: 'Seen while testing gift cards: after the bank confirms, the shop shows the login page.' },
  { team: 'ENG', title: 'Gift cards cannot be combined with a subscription', type: 'bug', status: 'backlog', priority: 'medium', by: 'priya', labels: ['checkout'], description: 'The field for the gift card is hidden when the cart contains a subscription.' },
  { team: 'ENG', title: 'Cart is empty after a lost connection', type: 'bug', status: 'in_progress', priority: 'high', by: 'mei', to: 'mei', project: 'app', milestone: 'Beta', labels: ['app'], estimate: 8, description: 'Steps: add two bags, switch to flight mode, open the cart.\nExpected: both bags. Seen: "Your cart is empty".\nApp 1.9.3 on Android 15.' },
  { team: 'ENG', title: 'App loses the cart when offline', type: 'bug', by: 'priya', labels: ['app'], description: 'Reported by a customer on a train: the cart was empty after a tunnel.' },
  { team: 'ENG', title: 'One-tap reorder', type: 'story', status: 'todo', priority: 'medium', by: 'ada', to: 'mei', project: 'app', milestone: 'Beta', labels: ['app'], description: 'As a regular customer, I want to repeat my last order with one tap.' },
  { team: 'DES', title: 'Reorder button: position and shape', status: 'in_progress', by: 'mei', to: 'priya', project: 'app', milestone: 'Beta', labels: ['app'], blocks: ['One-tap reorder'] },
  { team: 'ENG', title: 'App takes four seconds to show the first image', type: 'bug', status: 'qa', priority: 'high', by: 'jonas', to: 'jonas', project: 'app', labels: ['app', 'performance'], description: 'Measured on a Pixel 6a with a cold cache: 4.1 s. The images are loaded in full size.', thread: [['jonas', 'With resized images it takes 1.3 s.'], ['mei', 'Great! Please keep the old sizes until we drop support for 1.8.']] },
  { team: 'ENG', title: 'Resize product images on upload', status: 'done', by: 'jonas', to: 'jonas', project: 'app', labels: ['performance'], estimate: 5 },
  { team: 'ENG', title: 'Push notification when a delivery is near', type: 'feature', by: 'ada', project: 'app', labels: ['app', 'delivery'] },
  { team: 'DES', title: 'App icons are hard to distinguish in dark mode', type: 'bug', status: 'todo', priority: 'low', by: 'priya', to: 'priya', project: 'app', labels: ['app', 'accessibility'] },
  { team: 'DES', title: 'Colour contrast of the price is too low', type: 'bug', status: 'release', priority: 'medium', by: 'mei', to: 'priya', labels: ['accessibility'], description: 'Grey on cream has a contrast of 3.1:1. It should be at least 4.5:1.' },
  { team: 'ENG', title: 'Screen readers read every price twice', type: 'bug', status: 'backlog', priority: 'medium', by: 'mei', labels: ['accessibility'], description: 'VoiceOver on the product page.' },
  { team: 'SUP', title: 'Deliveries to Bremen arrive a day late', type: 'bug', status: 'in_progress', priority: 'high', by: 'priya', to: 'tomas', labels: ['delivery'], description: 'Since the depot moved. 14 complaints this week.', thread: [['tomas', 'I have asked the carrier for their new cut-off time.'], ['priya', 'Until we know, I tell customers "within two days".'], ['tomas', 'They now collect at 15:00 instead of 17:00.']] },
  { team: 'ENG', title: 'Cut-off time for same-day dispatch must be a setting', status: 'todo', priority: 'high', by: 'tomas', to: 'jonas', labels: ['delivery'], estimate: 3, blocks: ['Deliveries to Bremen arrive a day late'], description: 'It is hard-coded as 17:00.' },
  { team: 'SUP', title: 'Customer charged twice for one order', type: 'bug', status: 'todo', priority: 'urgent', by: 'priya', labels: ['checkout'], description: 'Order 48113. The customer pressed "Pay" again because nothing happened.' },
  { team: 'ENG', title: 'Pay button can be pressed twice', type: 'bug', status: 'in_progress', priority: 'urgent', by: 'jonas', to: 'jonas', labels: ['checkout'], estimate: 2, description: 'Steps: throttle the network, press "Pay" twice.\nExpected: one order. Seen: two.', thread: [['jonas', 'I will disable the button after the first click and send an idempotency key with the order.']] },
  { team: 'ENG', title: 'Orders need an idempotency key', status: 'in_progress', priority: 'high', by: 'jonas', to: 'jonas', labels: ['checkout'], parent: 'Pay button can be pressed twice' },
  { team: 'ENG', title: 'Search does not find "decaffeinated"', type: 'bug', status: 'backlog', priority: 'low', by: 'priya', description: 'It finds only "decaf".' },
  { team: 'ENG', title: 'Search ignores words with accents', type: 'bug', status: 'backlog', by: 'tomas' },
  { team: 'DES', title: 'Empty search results should suggest products', type: 'story', status: 'backlog', by: 'mei' },
  { team: 'SUP', title: 'Refund for a cracked tin', status: 'done', by: 'priya', to: 'priya' },
  { team: 'SUP', title: 'Customer cannot track a parcel: tracking link is broken', type: 'bug', status: 'todo', priority: 'medium', by: 'priya', to: 'priya', labels: ['delivery'] },
  { team: 'ENG', title: 'Tracking links use the old domain of the carrier', type: 'bug', status: 'release', priority: 'medium', by: 'tomas', to: 'mei', labels: ['delivery'], estimate: 1 },
  { team: 'ENG', title: 'Upgrade the shop to the new payment library', status: 'todo', priority: 'medium', by: 'tomas', to: 'tomas', labels: ['checkout'], estimate: 12, description: 'The old one is no longer maintained after June.' },
  { team: 'ENG', title: 'Flaky test: checkout with coupon', type: 'bug', status: 'backlog', by: 'jonas' },
  { team: 'ENG', title: 'Backup restores are never tested', status: 'todo', priority: 'high', by: 'tomas', to: 'ada', description: 'We have nightly backups, but the last restore was in spring.' },
  { team: 'ENG', title: 'Log files fill the disk of the image server', type: 'bug', status: 'done', priority: 'high', by: 'jonas', to: 'tomas' },
  { team: 'ENG', title: 'Move the image server to the new rack', status: 'done', by: 'tomas', to: 'tomas' },
  { team: 'DES', title: 'Product page: show the roast date', type: 'feature', status: 'in_progress', priority: 'medium', by: 'ada', to: 'mei', description: 'Coffee enthusiasts often ask for it.', thread: [['mei', 'Do we know it for every bag, or only for our own roasts?'], ['ada', 'Only for our own. Leave it out for the others.']] },
  { team: 'ENG', title: 'Roast date in the product feed', status: 'todo', by: 'mei', to: 'jonas', blocks: ['Product page: show the roast date'] },
  { team: 'DES', title: 'Newsletter template breaks in Outlook', type: 'bug', status: 'todo', priority: 'low', by: 'priya', to: 'priya' },
  { team: 'DES', title: 'New label for the winter blend', status: 'done', by: 'ada', to: 'priya' },
  { team: 'DES', title: 'Photos for the spring collection', status: 'todo', by: 'ada', to: 'mei', estimate: 10 },
  { team: 'SUP', title: 'Opening hours on the contact page are wrong', type: 'bug', status: 'done', priority: 'low', by: 'priya', to: 'priya', labels: ['wording'] },
  { team: 'SUP', title: 'Collect the ten most frequent questions', status: 'in_progress', by: 'tomas', to: 'priya', thread: [['priya', 'So far: pause, delivery day, decaf, grinder settings, gift cards.']] },
  { team: 'SUP', title: 'Complaint: bag arrived open', status: 'done', by: 'priya', to: 'priya', labels: ['delivery'] },
  { team: 'ENG', title: 'Delivery day can be chosen', type: 'story', status: 'backlog', priority: 'medium', by: 'ada', labels: ['delivery'], description: 'As a customer, I want to choose a weekday on which I am at home.' },
  { team: 'ENG', title: 'Let customers choose the weekday of delivery', type: 'feature', status: 'backlog', by: 'priya', labels: ['delivery'] },
  { team: 'ENG', title: 'Invoices show the wrong tax for Austria', type: 'bug', status: 'qa', priority: 'urgent', by: 'tomas', to: 'ada', description: 'Steps: order to Vienna, open the invoice.\nExpected: 10 %. Seen: 20 %.\nInvoice service 2.3.' },
  { team: 'ENG', title: 'Invoice numbers have gaps', status: 'backlog', priority: 'low', by: 'tomas', description: 'Our accountant asked why. The gaps are orders that were never paid.' },
  { team: 'ENG', title: 'Password reset email arrives after ten minutes', type: 'bug', status: 'todo', priority: 'medium', by: 'priya' },
  { team: 'ENG', title: 'Email queue stops after an invalid address', type: 'bug', status: 'in_progress', priority: 'high', by: 'jonas', to: 'mei', blocks: ['Password reset email arrives after ten minutes'] },
  { team: 'ENG', title: 'Remove the old mobile site', status: 'backlog', by: 'mei', project: 'app' },
  { team: 'ENG', title: 'App: sign in with a passkey', type: 'feature', status: 'backlog', by: 'jonas', project: 'app', labels: ['app'] },
  { team: 'ENG', title: 'App crashes when the address contains an emoji', type: 'bug', status: 'release', priority: 'medium', by: 'priya', to: 'mei', project: 'app', milestone: 'Beta', labels: ['app'] },
  { team: 'DES', title: 'App onboarding in three screens', type: 'story', status: 'todo', by: 'mei', to: 'mei', project: 'app', milestone: 'Beta', labels: ['app'] },
  { team: 'DES', title: 'Pause dialog: design the three durations', status: 'qa', by: 'tomas', to: 'mei', project: 'subscriptions', milestone: 'Pause by customer', parent: 'Pause a subscription from the account page' },
  { team: 'SUP', title: 'Tell former customers that they can pause now', status: 'backlog', by: 'ada', project: 'subscriptions', milestone: 'Pause by customer' },
  { team: 'ENG', title: 'Report: paused and returned customers', status: 'backlog', by: 'ada', project: 'subscriptions', estimate: 4 },
  { team: 'ENG', title: 'Partner coupons expire at the wrong time', type: 'bug', status: 'todo', by: 'tomas', labels: ['checkout'], description: 'They expire at midnight UTC instead of local time.' },
  { team: 'ENG', title: 'Stock count is wrong after a return', type: 'bug', status: 'backlog', priority: 'medium', by: 'priya' },
  { team: 'SUP', title: 'Grinder settings leaflet is out of date', status: 'todo', by: 'priya', labels: ['wording'] },
  { team: 'DES', title: 'Footer links overlap on small phones', type: 'bug', status: 'done', priority: 'low', by: 'mei', to: 'mei', labels: ['accessibility'] },
  { team: 'ENG', title: 'Rate limit for the coupon form', status: 'backlog', priority: 'medium', by: 'jonas', labels: ['checkout'] },
]
