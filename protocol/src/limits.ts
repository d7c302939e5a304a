/** All limits that a caller can encounter. Lengths count Unicode characters. */
export const limits = {
  bodyBytes: 1024 * 1024,
  bodyDepth: 32,
  bodyValues: 20_000,
  idsInArray: 100,

  /** Days of one report of insights, and of one by day. */
  insightDays: 366,
  insightDaysByDay: 92,
  /** Agents of one report, those with most sessions. */
  insightAgents: 50,

  pageDefault: 50,
  pageMax: 100,

  name: 80,
  title: 255,
  description: 100_000,
  comment: 20_000,
  guidance: 10_000,
  query: 200,
  importedIssues: 500,
  batchIssues: 100,
  /** Suggestions in one call, and characters of the reason of each. */
  suggestionsAtOnce: 20,
  suggestionReason: 500,
  /** Changes and comments of an agent in one review, the newest. */
  reviewItems: 50,
  /** Templates of one team, or of the workspace. */
  templatesPerTeam: 50,
  viewsPerPerson: 100,
  /** Workspaces that one person creates. */
  workspacesPerPerson: 20,
  personalAgentsPerPerson: 20,
  instructions: 10_000,
  viewQuery: 2000,
  viewValue: 200,
  email: 254,
  timeZone: 64,
  passwordMin: 8,
  passwordMax: 200,
  url: 2048,
  repository: 200,
  repositoriesPerTeam: 50,

  appNameMin: 2,
  appDescription: 1000,
  redirectUris: 32,
  iconBytes: 512 * 1024,
  oauthParameter: 4096,
  accessTokenSeconds: 3600,
  codeSeconds: 60,
  consentMinutes: 10,
  refreshTokenDays: 90,
  grantDays: 365,
  /** Reuse of a rotated refresh token within this time is a race; later it counts as theft and ends the grant. */
  refreshReplaySeconds: 60,
  registrationsPerHour: 20,
  linearTokenSeconds: 86_400,
  /** Tokens that one app gets with its secret alone. */
  linearClientCredentialsPerMinute: 30,
  webhookLabel: 80,
  /** Time until the headers of a receiver's answer (delivery.deadline-5s). */
  webhookDeadlineMs: 5000,
  webhookResponseBytes: 64 * 1024,
  webhookResponseKept: 1000,
  /** Size of one request to a listener; events are smaller. */
  relayedBytes: 8 * 1024 * 1024,
  /** Burst of test pings to one webhook; refills evenly. */
  testsPerMinute: 30,
  /** Requests to send one delivery again. */
  redeliveriesPerDelivery: 100,
  /** Deliveries are kept, and held while a webhook is disabled, for this time. */
  deliveryDays: 30,
  /** Events in one replay. */
  replayedEvents: 100_000,
  /** Failures in a row that stop a replay. */
  replayFailures: 20,
  /** Values of one key of a webhook's filters. */
  filterValues: 50,
  /** Longest overlap of two webhook secrets: a week. */
  rotationOverlapHours: 168,
  /** Days in a webhook's health, including today. */
  healthDays: 14,
  /** Held deliveries are counted up to this number. */
  heldCounted: 10_000,

  planItems: 50,
  planItemContent: 500,
  externalUrls: 10,
  externalUrlLabel: 60,
  activityBody: 32_000,
  activitiesPage: 200,
  reasonCode: 64,
  /** Numbers that an agent reports: tokens, costs, lines. */
  reportedNumber: 1e15,
  currency: 16,
  selectOptions: 50,
  optionValue: 255,
  optionDescription: 1000,
  idempotencyKey: 64,
  /** Size of prompt_context in UTF-8. */
  promptContextBytes: 64 * 1024,
  previousComments: 100,

  /** One request to Linear's API. */
  linearQueryBytes: 64 * 1024,
  linearTokens: 10_000,
  linearDepth: 10,
  linearFields: 1000,
  linearRootFields: 10,
  linearCost: 10_000,
  linearStatements: 50,
  linearSeconds: 10,
  linearPageMax: 250,

  loginLifetimeDays: 30,
  invitationLifetimeDays: 7,
  teamsPerInvitation: 50,
  invitationPreviewsPerAddress: 60,

  auditExportDays: 366,
  auditExportsPerHour: 6,

  heartbeatSeconds: 15,
  /** Open event streams of one user in one process. */
  streamsPerPerson: 100,
  /** Unsent data of one event stream; the stream is closed above this. */
  unreadStreamBytes: 1024 * 1024,

  /** Bursts of failed sign-ins; they refill evenly over the period. For one e-mail from one network: */
  signInFailuresPerEmail: 10,
  /** From one network, for any e-mail. */
  signInFailuresPerAddress: 60,
  signInPeriodSeconds: 600,
  /** For one e-mail, from all networks where its account has not signed in during these days. */
  signInFailuresPerEmailElsewhere: 50,
  signInElsewherePeriodSeconds: 3600,
  knownNetworkDays: 30,
  signUpsPerAddress: 60,
} as const

/** Apart from the others, so that only the screens of automations load them. */
export const automationLimits = {
  perTeam: 50,
  perWorkspace: 200,
  actions: 5,
  /** Least time between two instants of a schedule. */
  everyMinutes: 15,
  dueInDays: 365,
  notified: 20,
  runsPerHour: 60,
  runsPerDay: 500,
  runsPerHourInWorkspace: 1000,
  /** Runs that the limits skip in an hour before the automation is paused. */
  skipsPerHour: 100,
  failuresInARow: 5,
  /** Automations that cause each other. */
  depth: 3,
  runDays: 30,
  /** Events that a trial looks at. */
  triedEvents: 500,
} as const

/** Limits of programs alone, apart from the others so that browsers do not load them. */
export const programLimits = {
  exportsPerDay: 3,
  /** An archive is kept for this time, and its link is valid for that. */
  exportDays: 7,
  exportLinkMinutes: 5,
  /** The largest archive that is restored, and how long it may take to arrive. */
  archiveBytes: 20 * 1024 ** 3,
  archiveMinutes: 360,
  /** Rows of one CSV of issues. */
  csvRows: 50_000,
  /** Reactions in one answer, those on the newest comments; and users of each. */
  reactionsListed: 2000,
  reactionUsers: 100,
  /** Watchers and duplicates in one answer. */
  watchersListed: 500,
  duplicatesListed: 100,
  /** Files in the changes of a session; `files_total` counts those left out too. */
  changedFiles: 300,
  /** One patch, and all of them together, in UTF-8. */
  patchBytes: 64 * 1024,
  patchesBytes: 512 * 1024,
  path: 1024,
  gitRef: 200,
  modelName: 200,
  /** Months in the usage of an app. */
  usageMonths: 12,
  /** A listener's catch-up: deliveries of these hours, at most this many, once in these seconds. */
  catchUpHours: 24,
  catchUpDeliveries: 100,
  catchUpSeconds: 60,
  a2aCardBytes: 256 * 1024,
  a2aCredential: 4096,
  /** One answer or event of an A2A agent, one stream, and the texts of a task's artifacts. */
  a2aEventBytes: 1024 * 1024,
  a2aStreamBytes: 8 * 1024 * 1024,
  a2aArtifactBytes: 256 * 1024,
  /** Reads of agent cards by one workspace. */
  a2aReadsPerMinute: 30,
  fileName: 200,
  filesPerItem: 200,
  uploadsPerMinute: 60,
  /** Larger images are not shown in browsers. */
  imageSide: 16_384,
  imagePixels: 50_000_000,
  fileLinkMinutes: 5,
  largestFiles: 20,
  namesAtOnce: 50,
  /** Files within a call of an MCP tool. */
  toolImageBytes: 5 * 1024 * 1024,
  toolUploadBytes: 700 * 1024,
  gitConnections: 50,
  gitRepositories: 200,
  gitHost: 255,
  gitToken: 500,
  /** One request of a git host, and how many a connection accepts in a minute. */
  gitHookBytes: 5 * 1024 * 1024,
  gitHooksPerMinute: 600,
  /** Issues of one pull request or branch. */
  gitLinks: 20,
  /** Deliveries that managers see, and how long repeated ones are recognized. */
  gitDeliveries: 200,
  gitDeliveryDays: 30,
  /** Files of one import, and the size of each. */
  importFiles: 20,
  importFileBytes: 200 * 1024 * 1024,
  importedIssuesTotal: 100_000,
  /** Imports of a workspace whose files are stored; they are removed these days after the last change. */
  importsKept: 20,
  importFileDays: 7,
  importProblems: 1000,
  importKey: 500,
  /** Values of the source that a mapping lists for each field. */
  mappedValues: 2000,
  mappedValue: 500,
  sourcesListed: 20,
} as const

/** Limits of accounts, apart from the others so that browsers do not load them. */
export const accountLimits = {
  /** How long a login is recent after a sign-in method was used in it. */
  recentLoginMinutes: 15,
  passkeysPerPerson: 20,
  /** In one workspace; expired tokens do not count. */
  personalTokensPerPerson: 50,
  personalTokenDays: 365,
  personalTokenDefaultDays: 90,
  /** The owner is told this many days before a personal token expires. */
  personalTokenReminderDays: 7,
  resetLinkMinutes: 60,
  verificationHours: 24,
  undoDays: 7,
  /** Password reset is blocked for this time after a change of e-mail was undone. */
  resetBlockedHours: 24,
  cliCodeSeconds: 60,
  /** User-Agent of a login. */
  loginClient: 200,
  linkToken: 2000,
  /** In any hour. */
  resetsPerEmail: 3,
  resetsPerNetwork: 20,
  verificationsPerPerson: 5,
  /** Starts of single sign-on, and sign-ins with a passkey, from one network in `signInPeriodSeconds`. */
  ssoStartsPerAddress: 60,
  passkeySignInsPerAddress: 60,
  credentialId: 1400,
  passkeyResponse: 32_768,
  logoutToken: 32_768,
  testMailsPerPerson: 5,
  invitationMailsPerWorkspace: 50,
  /** In any day. */
  resendsPerInvitation: 3,
} as const

/** Limits of the inbox and of notifications by mail. */
export const inboxLimits = {
  snoozeDays: 90,
  /** From the first unread entry to its mail, which contains all entries since. */
  mailedAfterMinutes: 2,
  /** A user is active for this long after `PUT /presence`. */
  activeMinutes: 5,
  notificationsPerHour: 12,
} as const
