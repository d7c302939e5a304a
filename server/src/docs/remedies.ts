import { type ErrorCode, limits } from '@baton/protocol'

/** What to do about each error. A code without its line does not compile. */
export const remedies: Record<ErrorCode, string> = {
  INVALID_DELEGATE:
    'Leave `delegate_id` out. Only people hand issues over; an app that wants to give one up says so in its session.',
  INVALID_JSON:
    'Send one JSON document in UTF-8. A key that stands twice in an object, a missing body, text that is not valid Unicode, the character NUL, more than 32 levels and more than 20,000 values are refused too.',
  INVALID_REQUEST: 'Look at what your HTTP client or a proxy on the way makes of the request, its `Host` header first.',
  WORKSPACE_REQUIRED:
    '`GET /auth/me` lists your workspaces. Send the id of one as `X-Workspace-ID`; streams also take it as `workspace_id` in the query.',

  INSTALLATION_REVOKED:
    'Discard the tokens of this installation and stop calling. A manager has to install the app again.',
  UNAUTHORIZED:
    'A person signs in again. An app refreshes its access token; if that is refused too, a manager has to approve it again.',
  INVALID_CREDENTIALS:
    'Check both. The answer is the same whether the e-mail is unknown or the password is wrong; after too many failures it is `RATE_LIMIT_EXCEEDED`.',

  INSUFFICIENT_SCOPE:
    'Add the scope in `details.required` to the manifest and have a manager approve the app again. A scope in the manifest alone grants nothing.',
  TEAM_ACCESS_DENIED: 'A manager can add the team to the installation (`PATCH /installations/{id}`).',
  APP_STATUS_FORBIDDEN: 'Use one of `details.allowed`, and leave closing issues to people.',
  FORBIDDEN: 'Ask an owner or admin of the workspace, or whoever the thing belongs to.',
  CSRF_REFUSED:
    'Open the instance by its own address (`BATON_ROOT_URL`). Programs send `Authorization: Bearer …` and no cookie.',
  SESSION_ONLY_ROUTE: "Call it with a person's login. Managing the workspace is never given to programs.",
  WORKSPACE_ACCESS_DENIED:
    'Take the id from `GET /auth/me`. A token belongs to one workspace: the one it was issued for.',

  RESOURCE_NOT_FOUND:
    'Check the id. What was deleted, what is personal to somebody else and what never existed answer the same.',
  ROUTE_NOT_FOUND: 'Look the path up in the [reference](reference.md). The API is below `/api/v1`.',
  METHOD_NOT_ALLOWED: 'Use one of the methods in the `Allow` header.',
  REQUEST_TIMEOUT: 'Send the request whole and without pauses, and again if your connection was at fault.',

  ALREADY_MEMBER: 'Nothing is left to do.',
  DELIVERY_CANCELED:
    'Its webhook was deleted, its app was uninstalled, or it was held for 30 days. Read the item itself through the API.',
  IDEMPOTENCY_KEY_REUSED:
    'Keep a key for repeating one activity, and make a new one for the next. What was first sent with this key is stored.',
  LAST_OWNER: 'Make another member owner (`PATCH /workspaces/me/members/{user_id}`), then try again.',
  PERSONAL_AGENT_LIMIT_REACHED:
    'Delete one (`DELETE /agents/personal/{agent_id}`), or give one that you have other instructions.',
  REDELIVERY_LIMIT_REACHED: 'Read what the delivery carried from its record, or read the item itself through the API.',
  SESSION_ENDED:
    'Stop working on it; nothing more can be said in this session. If the work is still wanted, somebody delegates the issue again.',
  VIEW_LIMIT_REACHED:
    'Delete one (`DELETE /views/{view_id}`), or change one that you have instead. Those that others share do not count.',
  WEBHOOK_LIMIT_REACHED: 'Delete one, or ask the operator of the instance to raise `BATON_WEBHOOK_LIMIT`.',

  BODY_TOO_LARGE: `Send at most ${limits.bodyBytes.toLocaleString('en')} bytes; split lists over several calls.`,
  URI_TOO_LONG: 'Shorten the query, for instance by asking for fewer ids at once.',
  UNSUPPORTED_MEDIA_TYPE:
    'Set `Content-Type: application/json`. Below `/oauth`, tokens are asked for with `application/x-www-form-urlencoded`.',
  DELEGATE_UNAVAILABLE:
    '`GET /users/select?issue_id=…` says beforehand who can be given an issue. The installation has to cover the team, the app to have `app:assignable`, and its webhook to be enabled; a personal agent takes work from its owner alone.',
  DELEGATION_REQUIRES_ASSIGNEE: "Send `assignee_id` with the delegation: a member of the issue's team.",
  PROMPT_IS_HUMAN_ONLY: 'Post a `thought`, `action`, `elicitation`, `response` or `error`.',
  VALIDATION_ERROR:
    'Mend every field that `details` names by its dotted path. Nothing was stored. Fields and query parameters that an operation does not know are refused as well.',
  RATE_LIMIT_EXCEEDED:
    'Nothing was done. Wait for the seconds in `Retry-After`, then send the same again; see [rate limits](api.md#rate-limits).',
  HEADERS_TOO_LARGE: 'Send fewer or shorter headers; cookies of other sites on the same host are a usual cause.',

  INTERNAL_ERROR:
    'Give `details.request_id` to the operator of the instance, who finds the cause in the log by it. Reads may be repeated; look before you repeat a write.',
  NOT_READY:
    'Try again after a moment. For an operator: `/readyz` and the log say more, and [when things break](running.md#when-things-break) what to do.',
}
