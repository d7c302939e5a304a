/** Every error the API answers: its HTTP status and the sentence a caller reads. */
export const errors = {
  INVALID_DELEGATE: { status: 400, message: 'An app cannot set, change or clear the delegate of an issue.' },
  INVALID_JSON: { status: 400, message: 'The request body is not a well-formed JSON document.' },
  INVALID_REQUEST: { status: 400, message: 'The request is not valid HTTP.' },
  WORKSPACE_REQUIRED: { status: 400, message: 'Send the header X-Workspace-ID with the id of a workspace of yours.' },

  INSTALLATION_REVOKED: { status: 401, message: 'The app was uninstalled; discard its tokens.' },
  UNAUTHORIZED: { status: 401, message: 'The token is missing, expired or revoked. Sign in again.' },
  INVALID_CREDENTIALS: { status: 401, message: 'The e-mail or the password is wrong.' },

  INSUFFICIENT_SCOPE: { status: 403, message: 'The token lacks the scope that details.required names.' },
  TEAM_ACCESS_DENIED: { status: 403, message: 'The app is not installed for the team of this item.' },
  APP_STATUS_FORBIDDEN: {
    status: 403,
    message: 'An app may not give an issue this status; details.allowed lists those it may.',
  },
  FORBIDDEN: { status: 403, message: 'Your role does not allow this.' },
  CSRF_REFUSED: {
    status: 403,
    message: 'A write that is authenticated by the cookie must come from the same origin.',
  },
  SESSION_ONLY_ROUTE: {
    status: 403,
    message: "This route needs a person's login; OAuth and app tokens cannot use it.",
  },
  WORKSPACE_ACCESS_DENIED: { status: 403, message: 'X-Workspace-ID names a workspace you do not belong to.' },

  RESOURCE_NOT_FOUND: { status: 404, message: 'There is nothing here that you can see.' },
  ROUTE_NOT_FOUND: { status: 404, message: 'There is no such route; the API is described in openapi.json.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not answer to that method; see the Allow header.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },

  ALREADY_MEMBER: { status: 409, message: 'You are a member of that workspace already.' },
  DELIVERY_CANCELED: { status: 409, message: 'The delivery was canceled and cannot be sent again.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was sent with another body before; use a new key for a new activity.',
  },
  LAST_OWNER: { status: 409, message: 'A workspace needs an owner; make somebody else owner first.' },
  PERSONAL_AGENT_LIMIT_REACHED: {
    status: 409,
    message: 'You have as many personal agents as you may; delete one you no longer need.',
  },
  REDELIVERY_LIMIT_REACHED: { status: 409, message: 'The delivery has been attempted too often to be sent again.' },
  SESSION_ENDED: {
    status: 409,
    message: 'The agent session has ended, or is about to; details.end_reason says why.',
  },
  VIEW_LIMIT_REACHED: { status: 409, message: 'You have as many views as you may; delete one you no longer need.' },
  WEBHOOK_LIMIT_REACHED: {
    status: 409,
    message: 'The workspace has as many webhooks as it may; delete one it no longer needs.',
  },

  BODY_TOO_LARGE: { status: 413, message: 'The request body is larger than 1 MB.' },
  URI_TOO_LONG: { status: 414, message: 'The address of the request is too long.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send the body as application/json.' },
  DELEGATE_UNAVAILABLE: {
    status: 422,
    message: 'The agent cannot be given this issue; details.reason says what is missing.',
  },
  DELEGATION_REQUIRES_ASSIGNEE: {
    status: 422,
    message: "A delegated issue needs an assignee who stays accountable; name somebody of the issue's team.",
  },
  PROMPT_IS_HUMAN_ONLY: { status: 422, message: 'Only a person writes a prompt; an app says what it does or found.' },
  VALIDATION_ERROR: { status: 422, message: 'Some fields are not valid; details names each of them.' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Too many requests; wait for the seconds in Retry-After.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The headers of the request are too large.' },

  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side; details.request_id helps to find it.' },
  NOT_READY: {
    status: 503,
    message: 'The service is starting, stopping, overloaded or without its database; try again.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errors
