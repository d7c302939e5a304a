import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type ParsedLocation,
  redirect,
} from '@tanstack/react-router'
import { parseAgentSearch } from './agents/search.ts'
import { currentWorkspaceId, enterWorkspace, queries } from './data/api.ts'
import { parseDeliverySearch } from './data/delivery-search.ts'
import { instanceQuery } from './data/instance.ts'
import { meQuery } from './data/me.ts'
import { startLiveUpdates } from './data/updates.ts'
import { parseIssueSearch } from './issues/fields/search.ts'
import { parseProjectSearch } from './projects/search.ts'
import { NotFound } from './ui/not-found.tsx'
import { Failed, Skeletons } from './ui/states.tsx'

/** All screens and their paths. Each screen is loaded when it is first opened. */
const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const linkScreens = () => import('./login/link-screens.ts')

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

// Without a workspace
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string | undefined; problem?: string | undefined; local?: true | undefined } => ({
    next: text(search.next),
    problem: text(search.problem),
    local: search.local === undefined ? undefined : true,
  }),
  component: lazyRouteComponent(() => import('./login/sign-in-screen.tsx'), 'SignInScreen'),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: (search) => ({ next: text(search.next) }),
  component: lazyRouteComponent(() => import('./login/sign-up-screen.tsx'), 'SignUpScreen'),
})

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(linkScreens, 'ForgotPasswordScreen'),
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(linkScreens, 'ResetPasswordScreen'),
})
const undoEmail = createRoute({
  getParentRoute: () => root,
  path: '/undo-email',
  component: lazyRouteComponent(linkScreens, 'UndoEmailScreen'),
})

const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: '/mail/unsubscribe/$token',
  component: lazyRouteComponent(() => import('./inbox/unsubscribe-screen.tsx'), 'UnsubscribeScreen'),
})

/** To sign-in; to sign-up with an invitation, and where no account exists yet. */
async function signInRedirect({ pathname, searchStr, hash, href }: ParsedLocation) {
  // The fragment stays a fragment: it contains the secret of the invitation or of the link.
  if (pathname === '/invitations/accept') {
    return redirect({ to: '/sign-up', search: { next: pathname + searchStr }, hash })
  }
  if (pathname === '/verify-email') {
    return redirect({ to: '/sign-in', search: { next: pathname + searchStr }, hash })
  }
  const isFirst = await queries.ensureQueryData(instanceQuery).then(
    ({ needs_first_account }) => needs_first_account,
    () => false,
  )
  return redirect({ to: isFirst ? '/sign-up' : '/sign-in', search: { next: href } })
}

/** Requires sign-in, and returns to the requested page afterwards. */
const person = createRoute({
  getParentRoute: () => root,
  id: 'person',
  beforeLoad: async ({ location }) => {
    const me = await queries.ensureQueryData(meQuery)
    if (!me) throw await signInRedirect(location)
    return { me }
  },
})
const acceptInvitation = createRoute({
  getParentRoute: () => person,
  path: '/invitations/accept',
  component: lazyRouteComponent(() => import('./workspaces/accept-invitation-screen.tsx'), 'AcceptInvitationScreen'),
})
const verifyEmail = createRoute({
  getParentRoute: () => person,
  path: '/verify-email',
  component: lazyRouteComponent(linkScreens, 'VerifyEmailScreen'),
})
const cliLogin = createRoute({
  getParentRoute: () => person,
  path: '/cli-login',
  validateSearch: ({ challenge, port, name }): { challenge?: string; port?: number; name?: string } => ({
    ...(challenge !== undefined && { challenge: String(challenge) }),
    ...(port !== undefined && { port: Number(port) }),
    ...(name !== undefined && { name: String(name) }),
  }),
  component: lazyRouteComponent(linkScreens, 'CliLoginScreen'),
})
/** The address in mails, which does not depend on where the screen is. */
const accountLink = createRoute({
  getParentRoute: () => root,
  path: '/account',
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/settings/account', search })
  },
})
const newWorkspace = createRoute({
  getParentRoute: () => person,
  path: '/workspaces/new',
  component: lazyRouteComponent(() => import('./workspaces/new-workspace-screen.tsx'), 'NewWorkspaceScreen'),
})
const consent = createRoute({
  getParentRoute: () => person,
  path: '/oauth/consent',
  validateSearch: (search) => ({ request: text(search.request) }),
  component: lazyRouteComponent(() => import('./oauth/consent-screen.tsx'), 'ConsentScreen'),
})

/** Screens of a workspace, inside the shell. */
const inside = createRoute({
  getParentRoute: () => person,
  id: 'inside',
  beforeLoad: ({ context: { me } }) => {
    const isMember = me.workspaces.some(({ id }) => id === currentWorkspaceId())
    const [first] = me.workspaces
    if (!first) throw redirect({ to: '/workspaces/new' })
    if (!isMember) enterWorkspace(first.id)
    startLiveUpdates()
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
})
const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/issues' })
  },
})
const issues = createRoute({
  getParentRoute: () => inside,
  path: '/issues',
  validateSearch: parseIssueSearch,
  component: lazyRouteComponent(() => import('./issues/issues-screen.tsx'), 'IssuesScreen'),
})
const issue = createRoute({
  getParentRoute: () => inside,
  path: '/issue/$code',
  component: lazyRouteComponent(() => import('./issues/issue/issue-screen.tsx'), 'IssueScreen'),
})
/** For addresses typed by hand: the list's address with a code. */
const issueInList = createRoute({
  getParentRoute: () => inside,
  path: '/issues/$code',
  beforeLoad: ({ params: { code } }) => {
    throw redirect({ to: '/issue/$code', params: { code } })
  },
})
const projects = createRoute({
  getParentRoute: () => inside,
  path: '/projects',
  validateSearch: parseProjectSearch,
  component: lazyRouteComponent(() => import('./projects/projects-screen.tsx'), 'ProjectsScreen'),
})
const project = createRoute({
  getParentRoute: () => inside,
  path: '/project/$projectId',
  component: lazyRouteComponent(() => import('./projects/project-screen.tsx'), 'ProjectScreen'),
})
const agents = createRoute({
  getParentRoute: () => inside,
  path: '/agents',
  validateSearch: parseAgentSearch,
  component: lazyRouteComponent(() => import('./agents/agents-screen.tsx'), 'AgentsScreen'),
})
const agentSession = createRoute({
  getParentRoute: () => inside,
  path: '/agent-session/$sessionId',
  component: lazyRouteComponent(() => import('./agent-sessions/session-screen.tsx'), 'SessionScreen'),
})
const sessionChanges = createRoute({
  getParentRoute: () => inside,
  path: '/agent-session/$sessionId/changes',
  component: lazyRouteComponent(() => import('./agent-sessions/changes/changes-screen.tsx'), 'ChangesScreen'),
})
const addCodingAgent = createRoute({
  getParentRoute: () => inside,
  path: '/agents/add',
  component: lazyRouteComponent(() => import('./agents/add-coding-agent-screen.tsx'), 'AddCodingAgentScreen'),
})
const triage = createRoute({
  getParentRoute: () => inside,
  path: '/triage',
  validateSearch: (search): { team_id?: string | undefined } => ({ team_id: text(search.team_id) }),
  component: lazyRouteComponent(() => import('./suggestions/triage-screen.tsx'), 'TriageScreen'),
})
const reviews = createRoute({
  getParentRoute: () => inside,
  path: '/reviews',
  component: lazyRouteComponent(() => import('./reviews/reviews-screen.tsx'), 'ReviewsScreen'),
})
const inbox = createRoute({
  getParentRoute: () => inside,
  path: '/inbox',
  validateSearch: (search): { unread?: true; state?: 'snoozed' | 'archived'; install?: string } => ({
    ...(search.unread === true && { unread: true }),
    ...((search.state === 'snoozed' || search.state === 'archived') && { state: search.state }),
    ...(typeof search.install === 'string' && { install: search.install }),
  }),
  component: lazyRouteComponent(() => import('./inbox/inbox-screen.tsx'), 'InboxScreen'),
})

const insights = createRoute({
  getParentRoute: () => inside,
  path: '/insights',
  component: lazyRouteComponent(() => import('./insights/insights-screen.tsx'), 'InsightsScreen'),
})

// Settings
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings.tsx'), 'Settings'),
})
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account' })
  },
})
const account = createRoute({
  getParentRoute: () => settings,
  path: '/account',
  component: lazyRouteComponent(() => import('./settings/account-page.tsx'), 'AccountPage'),
})
const notifications = createRoute({
  getParentRoute: () => settings,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./inbox/notifications-screen.tsx'), 'NotificationsScreen'),
})
const workspace = createRoute({
  getParentRoute: () => settings,
  path: '/workspace',
  component: lazyRouteComponent(() => import('./settings/workspace-page.tsx'), 'WorkspacePage'),
})
const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: lazyRouteComponent(() => import('./workspaces/members-screen.tsx'), 'MembersScreen'),
})
const teams = createRoute({
  getParentRoute: () => settings,
  path: '/teams',
  component: lazyRouteComponent(() => import('./workspaces/teams-screen.tsx'), 'TeamsScreen'),
})
const team = createRoute({
  getParentRoute: () => settings,
  path: '/teams/$teamId',
  component: lazyRouteComponent(() => import('./workspaces/team-screen.tsx'), 'TeamScreen'),
})
const templates = createRoute({
  getParentRoute: () => settings,
  path: '/templates',
  component: lazyRouteComponent(() => import('./issues/templates/templates-screen.tsx'), 'TemplatesScreen'),
})
const labels = createRoute({
  getParentRoute: () => settings,
  path: '/labels',
  component: lazyRouteComponent(() => import('./planning/labels-screen.tsx'), 'LabelsScreen'),
})
const cycles = createRoute({
  getParentRoute: () => settings,
  path: '/cycles',
  component: lazyRouteComponent(() => import('./planning/cycles-screen.tsx'), 'CyclesScreen'),
})
const agentApps = createRoute({
  getParentRoute: () => settings,
  path: '/agent-apps',
  component: lazyRouteComponent(() => import('./agent-apps/agent-apps-screen.tsx'), 'AgentAppsScreen'),
})
const registerApp = createRoute({
  getParentRoute: () => settings,
  path: '/agent-apps/new',
  component: lazyRouteComponent(() => import('./agent-apps/register-screen.tsx'), 'RegisterScreen'),
})
const agentApp = createRoute({
  getParentRoute: () => settings,
  path: '/agent-apps/$appId',
  component: lazyRouteComponent(() => import('./agent-apps/agent-app-screen.tsx'), 'AgentAppScreen'),
})
const appDeliveries = createRoute({
  getParentRoute: () => settings,
  path: '/agent-apps/$appId/deliveries',
  validateSearch: parseDeliverySearch,
  component: lazyRouteComponent(() => import('./agent-apps/deliveries-screen.tsx'), 'AppDeliveriesScreen'),
})
const appDelivery = createRoute({
  getParentRoute: () => settings,
  path: '/agent-apps/$appId/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./agent-apps/deliveries-screen.tsx'), 'AppDeliveryScreen'),
})
const imports = createRoute({
  getParentRoute: () => settings,
  path: '/import',
  component: lazyRouteComponent(() => import('./imports/screens.ts'), 'ImportsScreen'),
})
const importDetails = createRoute({
  getParentRoute: () => settings,
  path: '/import/$importId',
  component: lazyRouteComponent(() => import('./imports/screens.ts'), 'ImportScreen'),
})
const placeholders = createRoute({
  getParentRoute: () => settings,
  path: '/placeholders',
  component: lazyRouteComponent(() => import('./imports/screens.ts'), 'PlaceholdersScreen'),
})
const storage = createRoute({
  getParentRoute: () => settings,
  path: '/storage',
  component: lazyRouteComponent(() => import('./files/item-files.tsx'), 'StorageScreen'),
})
const git = createRoute({
  getParentRoute: () => settings,
  path: '/git',
  component: lazyRouteComponent(() => import('./git/screens.ts'), 'GitScreen'),
})
const gitConnection = createRoute({
  getParentRoute: () => settings,
  path: '/git/$connectionId',
  component: lazyRouteComponent(() => import('./git/screens.ts'), 'ConnectionScreen'),
})
const automations = createRoute({
  getParentRoute: () => settings,
  path: '/automations',
  component: lazyRouteComponent(() => import('./automations/screens.ts'), 'AutomationsScreen'),
})
const newAutomation = createRoute({
  getParentRoute: () => settings,
  path: '/automations/new',
  validateSearch: ({ issue }) => ({ issue: text(issue) }),
  component: lazyRouteComponent(() => import('./automations/screens.ts'), 'NewAutomationScreen'),
})
const automation = createRoute({
  getParentRoute: () => settings,
  path: '/automations/$automationId',
  component: lazyRouteComponent(() => import('./automations/screens.ts'), 'AutomationScreen'),
})
const webhooks = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-screen.tsx'), 'WebhooksScreen'),
})
const webhook = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./webhooks/webhook-screen.tsx'), 'WebhookScreen'),
})
const webhookDeliveries = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks/$webhookId/deliveries',
  validateSearch: parseDeliverySearch,
  component: lazyRouteComponent(() => import('./webhooks/deliveries-screen.tsx'), 'WebhookDeliveriesScreen'),
})
const webhookDelivery = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/deliveries-screen.tsx'), 'WebhookDeliveryScreen'),
})
const auditLog = createRoute({
  getParentRoute: () => settings,
  path: '/audit-log',
  component: lazyRouteComponent(() => import('./audit/audit-screen.tsx'), 'AuditScreen'),
})
const exportPage = createRoute({
  getParentRoute: () => settings,
  path: '/export',
  component: lazyRouteComponent(() => import('./settings/export/export-screen.tsx'), 'ExportScreen'),
})
const apiReference = createRoute({
  getParentRoute: () => settings,
  path: '/api',
  component: lazyRouteComponent(() => import('./settings/api-screen.tsx'), 'ApiScreen'),
})

const routeTree = root.addChildren([
  signIn,
  signUp,
  unsubscribe,
  forgotPassword,
  resetPassword,
  undoEmail,
  accountLink,
  person.addChildren([
    acceptInvitation,
    verifyEmail,
    cliLogin,
    newWorkspace,
    consent,
    inside.addChildren([
      home,
      issues,
      issue,
      issueInList,
      projects,
      project,
      agents,
      agentSession,
      sessionChanges,
      addCodingAgent,
      triage,
      reviews,
      inbox,
      insights,
      settings.addChildren([
        settingsHome,
        account,
        notifications,
        workspace,
        members,
        teams,
        team,
        labels,
        templates,
        cycles,
        agentApps,
        registerApp,
        agentApp,
        appDeliveries,
        appDelivery,
        imports,
        importDetails,
        placeholders,
        storage,
        git,
        gitConnection,
        automations,
        newAutomation,
        automation,
        webhooks,
        webhook,
        webhookDeliveries,
        webhookDelivery,
        auditLog,
        exportPage,
        apiReference,
      ]),
    ]),
  ]),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingComponent: Skeletons,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} onRetry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
