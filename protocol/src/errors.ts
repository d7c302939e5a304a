import { accountLimits, limits } from './limits.ts'

/** All error codes of the API, with HTTP status and message. */
export const errors = {
  INVALID_DELEGATE: { status: 400, message: 'Apps cannot set, change or clear the delegate of an issue.' },
  INVALID_JSON: { status: 400, message: 'The request body is not valid JSON.' },
  INVALID_REQUEST: { status: 400, message: 'The request is not valid HTTP.' },
  WORKSPACE_REQUIRED: { status: 400, message: 'Send the header X-Workspace-ID with the id of one of your workspaces.' },

  INSTALLATION_REVOKED: { status: 401, message: 'The app was uninstalled. Discard its tokens.' },
  UNAUTHORIZED: { status: 401, message: 'The token is missing, expired or revoked. Sign in again.' },
  INVALID_CREDENTIALS: { status: 401, message: 'The e-mail address or the password is wrong.' },

  INSUFFICIENT_SCOPE: { status: 403, message: 'The token lacks the scope in details.required.' },
  TEAM_ACCESS_DENIED: { status: 403, message: 'The app or token has no access to the team of this item.' },
  APP_STATUS_FORBIDDEN: {
    status: 403,
    message: 'Apps cannot set this status. See details.allowed for those they can set.',
  },
  FORBIDDEN: { status: 403, message: 'Your role does not allow this.' },
  CSRF_REFUSED: {
    status: 403,
    message: 'A page can sign in, and write with the login cookie, only at the address of the instance.',
  },
  REAUTH_REQUIRED: {
    status: 403,
    message: 'Confirm your identity first, with one of the sign-in methods in details.methods.',
  },
  SESSION_ONLY_ROUTE: {
    status: 403,
    message:
      "This route requires a person's login. No token can use it, neither of an app or program nor a personal one.",
  },
  SSO_REQUIRED: { status: 403, message: 'This instance allows single sign-on only. Sign in with a provider.' },
  WORKSPACE_ACCESS_DENIED: { status: 403, message: 'You are not a member of the workspace in X-Workspace-ID.' },

  RESOURCE_NOT_FOUND: { status: 404, message: 'Not found, or you do not have access to it.' },
  ROUTE_NOT_FOUND: { status: 404, message: 'This route does not exist. See openapi.json for all routes.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This route does not support the method. See the Allow header for those it supports.',
  },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },

  A2A_APP: {
    status: 409,
    message: 'This app speaks A2A: it has no secrets, manifest, OAuth or listener. Use its A2A routes.',
  },
  ALREADY_INSTALLED: { status: 409, message: 'The app is already installed.' },
  ALREADY_MEMBER: { status: 409, message: 'You are already a member of that workspace.' },
  TEAM_IN_USE: {
    status: 409,
    message:
      'The team is the only one of an installation or a webhook. Give these another team, or delete them, first.',
  },
  AUTOMATION_LIMIT_REACHED: {
    status: 409,
    message: 'The team or the workspace has the most automations it can have, see details.limit. Delete one first.',
  },
  BUDGET_REACHED: {
    status: 409,
    message: 'The agent has reached its budget. See details. A manager can raise it on the page of the app.',
  },
  DELIVERY_CANCELED: { status: 409, message: 'The delivery was canceled and cannot be sent again.' },
  EDIT_CONFLICT: {
    status: 409,
    message: 'Another user changed the fields in details.fields since. Read the issue again, then send your change.',
  },
  FILES_NOT_CONFIGURED: {
    status: 409,
    message: 'This instance has no place for files. Ask its operator to set BATON_FILES_DIR or BATON_S3_URL.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was already used with another body. Use a new key for a new activity.',
  },
  IMPORT_RUNNING: { status: 409, message: 'An import is running in this workspace. Wait for it, or cancel it.' },
  LAST_OWNER: { status: 409, message: 'A workspace needs an owner. Make another member owner first.' },
  LAST_SIGN_IN_METHOD: { status: 409, message: 'This is your only sign-in method. Add another one first.' },
  MAIL_NOT_CONFIGURED: { status: 409, message: 'This instance sends no mail. Ask its operator to configure it.' },
  PASSKEY_LIMIT_REACHED: {
    status: 409,
    message: `You already have ${accountLimits.passkeysPerPerson} passkeys, the maximum. Remove one first.`,
  },
  PERSONAL_AGENT_LIMIT_REACHED: {
    status: 409,
    message: `You already have ${limits.personalAgentsPerPerson} personal agents, the maximum. Delete one first.`,
  },
  REDELIVERY_LIMIT_REACHED: {
    status: 409,
    message: `The delivery was already redelivered ${limits.redeliveriesPerDelivery} times, the maximum.`,
  },
  REPLAY_UNDER_WAY: {
    status: 409,
    message: 'A replay of this webhook is running. Stop it, or wait until it is done.',
  },
  REVIEW_DECIDED: {
    status: 409,
    message: 'The review was already decided or withdrawn. See details.state.',
  },
  ROTATION_UNDER_WAY: {
    status: 409,
    message: 'A rotation with overlap is under way. Finish it, or rotate without overlap.',
  },
  SESSION_ENDED: {
    status: 409,
    message: 'The agent session has ended or is stopping. See details.end_reason.',
  },
  STORAGE_LIMIT_REACHED: {
    status: 409,
    message:
      'The workspace has no room for this file. See details. A manager can delete files under Settings → Storage.',
  },
  SUGGESTION_DECIDED: {
    status: 409,
    message: 'A suggestion was already decided, so nothing was applied. See details, and read the suggestions again.',
  },
  SUGGESTION_OUTDATED: {
    status: 409,
    message: 'The value of a suggestion no longer exists, so nothing was applied. See details.suggestion_ids.',
  },
  TOKEN_LIMIT_REACHED: {
    status: 409,
    message: `You already have ${accountLimits.personalTokensPerPerson} personal tokens in this workspace, the maximum. Revoke one first.`,
  },
  VIEW_LIMIT_REACHED: {
    status: 409,
    message: `You already have ${limits.viewsPerPerson} views, the maximum. Delete one first.`,
  },
  WEBHOOK_NOT_ENABLED: { status: 409, message: 'The webhook is disabled. Enable it first.' },
  WORKSPACE_PENDING_DELETION: {
    status: 409,
    message: 'The workspace is about to be deleted and can only be read. An owner can cancel the deletion.',
  },
  WORKSPACE_LIMIT_REACHED: {
    status: 409,
    message: `You already created ${limits.workspacesPerPerson} workspaces, the maximum. Use one of them, or join one by invitation.`,
  },
  WEBHOOK_LIMIT_REACHED: {
    status: 409,
    message: 'The workspace has the maximum number of webhooks. Delete one first.',
  },

  BODY_TOO_LARGE: {
    status: 413,
    message: 'The request body is larger than the route allows: 1 MB, unless its reference says more.',
  },
  URI_TOO_LONG: { status: 414, message: 'The URL of the request is too long.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send the body as application/json.' },
  A2A_CARD_UNUSABLE: {
    status: 422,
    message: 'Baton cannot use this agent card. See details.reason.',
  },
  DELEGATE_UNAVAILABLE: {
    status: 422,
    message: 'The issue cannot be delegated to this agent. See details.reason.',
  },
  DELEGATION_REQUIRES_ASSIGNEE: {
    status: 422,
    message:
      "A delegated issue needs an assignee who stays accountable. Set assignee_id to a member of the issue's team.",
  },
  PROMPT_IS_HUMAN_ONLY: {
    status: 422,
    message: 'Only people can post a prompt. Apps post thought, action, elicitation, response or error.',
  },
  REPLAY_TOO_LARGE: {
    status: 422,
    message: `The replay has more than ${limits.replayedEvents.toLocaleString('en')} events. Choose a shorter time or fewer types.`,
  },
  VALIDATION_ERROR: { status: 422, message: 'Some fields are invalid. See details for each of them.' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Too many requests. Wait for the number of seconds in Retry-After.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The headers of the request are too large.' },

  INTERNAL_ERROR: { status: 500, message: 'Internal error. Report details.request_id to the operator.' },
  NOT_READY: {
    status: 503,
    message: 'The service is starting, stopping, overloaded or has lost its database. Try again.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errors
