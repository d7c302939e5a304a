/** Every number a caller can run into, in one place. Lengths count Unicode characters. */
export const limits = {
  bodyBytes: 1024 * 1024,
  bodyDepth: 32,
  bodyValues: 20_000,
  idsInArray: 100,

  pageDefault: 50,
  pageMax: 100,

  name: 80,
  title: 255,
  description: 100_000,
  comment: 20_000,
  guidance: 10_000,
  query: 200,
  importedIssues: 500,
  viewsPerPerson: 100,
  personalAgentsPerPerson: 20,
  instructions: 10_000,
  viewQuery: 2000,
  viewValue: 200,
  email: 254,
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
  /** A rotated refresh token that comes again within this time was a race; later it was stolen. */
  refreshReplaySeconds: 60,
  registrationsPerHour: 20,
  webhookLabel: 80,
  /** A receiver's answer must begin within this time (4.7). */
  webhookDeadlineMs: 5000,
  webhookResponseBytes: 64 * 1024,
  webhookResponseKept: 1000,
  /** Of one request that is handed to a listener: more than any event has. */
  relayedBytes: 8 * 1024 * 1024,
  /** To one webhook, at once; they are given back evenly. */
  testsPerMinute: 30,
  /** Scheduled and asked for together. */
  attemptsPerDelivery: 100,
  /** Kept, and held while a webhook is disabled, for so long. */
  deliveryDays: 30,
  /** That a webhook's health is told for, today included. */
  healthDays: 14,
  /** Held deliveries are counted up to so many. */
  heldCounted: 10_000,

  planItems: 50,
  planItemContent: 500,
  externalUrls: 10,
  externalUrlLabel: 60,
  activityBody: 32_000,
  activitiesPage: 200,
  reasonCode: 64,
  selectOptions: 50,
  optionValue: 255,
  optionDescription: 1000,
  idempotencyKey: 64,
  /** A whole prompt_context, in bytes of UTF-8. */
  promptContextBytes: 64 * 1024,
  previousComments: 100,

  loginLifetimeDays: 30,
  invitationLifetimeDays: 7,

  heartbeatSeconds: 15,
  /** Streams of server-sent events that one person has open with one process. */
  streamsPerPerson: 100,
  /** What may wait for a browser that does not read its stream. */
  unreadStreamBytes: 1024 * 1024,

  /** Failed sign-ins that may come at once; they are forgiven evenly over the period. */
  signInFailuresPerEmail: 10,
  signInFailuresPerAddress: 60,
  signInPeriodSeconds: 600,
  signUpsPerAddress: 60,
} as const
