import { expect, type Page } from '@playwright/test'
import { type Person, signedIn } from './company.ts'
import type { Demo } from './demo.ts'

/** A screen of the filled workspace of `withDemo`. */
export interface Screen {
  name: string
  path: string | ((demo: Demo) => string)
  /** Ada by default; null for a signed-out browser. */
  as?: ((demo: Demo) => Pick<Person, 'email' | 'password' | 'api'>) | null
  /** Actions on the page after it has loaded. */
  steps?: (page: Page, demo: Demo) => Promise<void>
}

const ada = (demo: Demo) => demo.ada
const mei = (demo: Demo) => demo.mei
const newcomer = (demo: Demo) => demo.newcomer

export const screens: Screen[] = [
  { name: 'sign-in', path: '/sign-in', as: null },
  { name: 'sign-up', path: '/sign-up', as: null },
  { name: 'forgot-password', path: '/forgot-password', as: null },
  { name: 'reset-password', path: '/reset-password#token=x', as: null },
  { name: 'undo-email', path: '/undo-email#token=x', as: null },
  { name: 'verify-email', path: '/verify-email#token=x' },
  { name: 'cli-login', path: `/cli-login?challenge=${'x'.repeat(43)}&port=4000&name=baton+on+laptop` },
  { name: 'invitation', path: ({ invitationToken }) => `/invitations/accept?token=${invitationToken}`, as: newcomer },
  { name: 'new-workspace', path: '/workspaces/new', as: newcomer },
  { name: 'issues', path: '/issues' },
  { name: 'issues-board', path: '/issues?layout=board' },
  { name: 'issues-filtered', path: '/issues?status=!done&due=overdue,30d&priority=high,urgent' },
  {
    name: 'issue-new',
    path: '/issues',
    steps: async (page) => {
      await page.keyboard.press('c')
      await expect(page.getByRole('button', { name: 'Due date: none' })).toBeVisible()
    },
  },
  {
    name: 'issue-preview',
    path: '/issues?q=pause',
    steps: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('Space')
      await expect(
        page
          .getByRole('complementary', { name: /^Issue / })
          .getByRole('textbox')
          .first(),
      ).toBeVisible()
    },
  },
  { name: 'issue-features', path: '/issue/ENG-1' },
  { name: 'settings-templates', path: '/settings/templates' },
  { name: 'settings-automations', path: '/settings/automations' },
  { name: 'settings-automation', path: ({ automationId }) => `/settings/automations/${automationId}` },
  { name: 'settings-automation-new', path: '/settings/automations/new' },
  { name: 'triage', path: '/triage' },
  { name: 'reviews', path: '/reviews' },
  {
    name: 'issue-due-date',
    path: '/issue/ENG-1',
    steps: async (page) => {
      await page.keyboard.press('Shift+D')
      await expect(page.getByRole('button', { name: 'Next month' })).toBeVisible()
    },
  },
  {
    name: 'issue-cycle',
    path: '/issue/ENG-1',
    steps: async (page) => {
      await page.keyboard.press('Shift+C')
      await expect(page.getByRole('option', { name: /Ended/ })).toBeVisible()
    },
  },
  {
    name: 'palette',
    path: '/issue/ENG-1',
    steps: async (page) => {
      await page.keyboard.press('Control+k')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'palette-search',
    path: '/issues',
    steps: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByLabel('Search issues and commands').fill('ba')
      await expect(page.getByText('Agents', { exact: true }).last()).toBeVisible()
    },
  },
  { name: 'issue', path: '/issue/ENG-1' },
  { name: 'session-working', path: ({ issues }) => `/issue/${issues.working.code}` },
  { name: 'session-asking', path: ({ issues }) => `/issue/${issues.asking.code}` },
  { name: 'session-connecting', path: ({ issues }) => `/issue/${issues.connecting.code}` },
  { name: 'session-complete', path: ({ issues }) => `/issue/${issues.complete.code}` },
  { name: 'session-failed', path: ({ issues }) => `/issue/${issues.failed.code}` },
  { name: 'session-stopping', path: ({ issues }) => `/issue/${issues.stopping.code}` },
  { name: 'session-silent', path: ({ issues }) => `/issue/${issues.silent.code}` },
  { name: 'session-changes', path: ({ changedSessionId }) => `/agent-session/${changedSessionId}/changes` },
  { name: 'session-built-in', path: ({ inside }) => `/issue/${inside.answered.code}` },
  { name: 'session-no-model', path: ({ inside }) => `/issue/${inside.unable.code}` },
  { name: 'agents', path: '/agents' },
  { name: 'agents-add', path: '/agents/add' },
  {
    name: 'agents-new',
    path: '/agents',
    as: mei,
    steps: async (page) => {
      await page.keyboard.press('n')
      await page.keyboard.press('a')
      await expect(page.getByRole('dialog')).toBeVisible()
    },
  },
  {
    name: 'delegate',
    path: ({ inside }) => `/issue/${inside.unable.code}`,
    steps: async (page) => {
      await page.keyboard.press('d')
      await expect(page.getByRole('option', { name: 'Baton' })).toBeVisible()
    },
  },
  { name: 'inbox', path: '/inbox' },
  { name: 'inbox-archived', path: '/inbox?state=archived' },
  {
    name: 'inbox-snooze',
    path: '/inbox',
    steps: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('h')
      await expect(page.getByRole('option', { name: /Tomorrow/ })).toBeVisible()
    },
  },
  {
    name: 'inbox-install',
    path: ({ requestedAppId }) => `/inbox?install=${requestedAppId}`,
    steps: async (page) => {
      await expect(page.getByRole('dialog', { name: 'Install Scribe' })).toBeVisible()
      await page.getByLabel('Selected teams').check()
    },
  },
  { name: 'projects', path: '/projects' },
  { name: 'project', path: ({ projectId }) => `/project/${projectId}` },
  // These redirect to /oauth/consent?request=….
  { name: 'consent', path: ({ installUrl }) => installUrl.ada },
  { name: 'consent-refused', path: ({ installUrl }) => installUrl.mei, as: mei },
  { name: 'settings-agent-apps', path: '/settings/agent-apps' },
  { name: 'settings-agent-app', path: ({ appId }) => `/settings/agent-apps/${appId}` },
  { name: 'settings-agent-app-new', path: ({ requestedAppId }) => `/settings/agent-apps/${requestedAppId}` },
  { name: 'settings-a2a-app', path: ({ a2aAppId }) => `/settings/agent-apps/${a2aAppId}` },
  {
    name: 'settings-a2a-register',
    path: '/settings/agent-apps/new',
    steps: async (page, { cardUrl }) => {
      await page.getByRole('button', { name: 'From an A2A card' }).click()
      await page.getByLabel('Card URL').fill(cardUrl)
      await page.getByRole('button', { name: 'Read card' }).click()
      await page.getByLabel('API key').check()
      await expect(page.getByLabel('Header', { exact: true })).toBeVisible()
    },
  },
  {
    name: 'settings-deliveries',
    path: ({ appId }) => `/settings/agent-apps/${appId}/deliveries`,
    steps: async (page) => {
      await page.getByRole('checkbox').nth(1).check()
      await page
        .getByRole('checkbox')
        .nth(3)
        .click({ modifiers: ['Shift'] })
    },
  },
  {
    name: 'settings-deliveries-redelivered',
    path: ({ webhookId }) => `/settings/webhooks/${webhookId}/deliveries`,
    steps: async (page) => {
      await page.getByRole('checkbox').first().check()
      await page.getByRole('button', { name: 'Redeliver selected' }).click()
      await expect(page.getByRole('button', { name: 'Dismiss' })).toBeVisible({ timeout: 15_000 })
    },
  },
  { name: 'settings-import', path: '/settings/import' },
  { name: 'settings-placeholders', path: '/settings/placeholders' },
  { name: 'settings-storage', path: '/settings/storage' },
  { name: 'settings-export', path: '/settings/export' },
  { name: 'settings-git', path: '/settings/git' },
  { name: 'settings-git-connection', path: ({ gitConnectionId }) => `/settings/git/${gitConnectionId}` },
  {
    name: 'settings-git-new',
    path: '/settings/git',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Connect repositories' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
    },
  },
  { name: 'issue-pull-requests', path: ({ issues }) => `/issue/${issues.complete.code}` },
  { name: 'settings-webhooks', path: '/settings/webhooks' },
  { name: 'settings-webhook', path: ({ webhookId }) => `/settings/webhooks/${webhookId}` },
  {
    name: 'settings-delivery',
    path: ({ webhookId, deliveryId }) => `/settings/webhooks/${webhookId}/deliveries/${deliveryId}`,
  },
  { name: 'settings-notifications', path: '/settings/notifications' },
  { name: 'unsubscribe', path: '/mail/unsubscribe/x', as: null },
  { name: 'settings-account', path: '/settings/account' },
  {
    name: 'settings-new-token',
    path: '/settings/account',
    steps: async (page) => {
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('Selected teams').check()
    },
  },
  { name: 'settings-workspace', path: '/settings/workspace' },
  { name: 'settings-members', path: '/settings/members' },
  {
    name: 'settings-invite',
    path: '/settings/members',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await page.getByLabel('E-mail addresses').fill('grace@example.com, alan@example.com\nkatherine@')
      await page.getByRole('button', { name: 'Create 3 invitations' }).click()
      await expect(page.getByRole('alert')).toContainText('katherine@')
    },
  },
  {
    name: 'settings-invite-links',
    path: '/settings/members',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await page.getByLabel('E-mail addresses').fill('grace@example.com, alan@example.com')
      await page.getByRole('button', { name: 'Create 2 invitations' }).click()
      await expect(page.getByRole('list', { name: 'Links' })).toBeVisible()
    },
  },
  { name: 'settings-team', path: ({ teamId }) => `/settings/teams/${teamId}` },
  {
    name: 'settings-team-delete',
    path: ({ deletableTeamId }) => `/settings/teams/${deletableTeamId}`,
    steps: async (page) => {
      await page.getByRole('button', { name: 'Delete team' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
    },
  },
  { name: 'settings-labels', path: '/settings/labels' },
  {
    name: 'settings-label-same-name',
    path: '/settings/labels',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Edit app' }).click()
      await page.getByLabel('Name').fill('Checkout')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('alert')).toContainText('exists already')
    },
  },
  { name: 'insights', path: '/insights' },
  { name: 'insights-flow', path: '/insights?tab=flow' },
  { name: 'insights-deliveries', path: '/insights?tab=deliveries' },
  { name: 'settings-cycles', path: '/settings/cycles' },
  { name: 'settings-audit-log', path: '/settings/audit-log' },
  { name: 'settings-api', path: '/settings/api' },
  { name: 'docs', path: '/docs', as: null },
  {
    name: 'tour',
    path: '/issues?layout=board',
    steps: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('button', { name: 'Show the tour' }).click()
      await expect(page.getByRole('region', { name: 'Tour' })).toBeVisible()
    },
  },
  // The last, because it installs the app.
  {
    name: 'install-tokens',
    path: ({ requestedAppId }) => `/settings/agent-apps/${requestedAppId}`,
    steps: async (page) => {
      await page.getByRole('button', { name: 'Install', exact: true }).click()
      await page.getByLabel('All teams').check()
      await page.getByRole('button', { name: 'Install Scribe' }).click()
      await expect(page.getByRole('button', { name: 'Copy as .env' })).toBeVisible()
    },
  },
]

export async function openScreen(
  page: Page,
  { path, as = ada, steps }: Screen,
  demo: Demo,
  { signIn = true }: { signIn?: boolean } = {},
) {
  if (as && signIn) await signedIn(page, as(demo))
  const response = await page.goto(typeof path === 'string' ? path : path(demo))
  expect(response?.status(), `status of ${page.url()}`).toBe(200)
  await settled(page)
  await steps?.(page, demo)
}

/** Waits until nothing is loading and the last change is painted. */
export async function settled(page: Page) {
  await expect(page.getByRole('main')).toBeVisible()
  await expect(page.locator('[aria-busy="true"], .skeleton')).toHaveCount(0)
  await page.evaluate(async () => {
    await document.fonts.ready
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
  })
}
