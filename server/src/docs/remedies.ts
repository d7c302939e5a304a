import { type ErrorCode, limits } from '@baton/protocol'

/** How to fix each error. A code without an entry does not compile. */
export const remedies: Record<ErrorCode, string> = {
  INVALID_DELEGATE:
    'Leave `delegate_id` out. Only people delegate issues. An app that wants to give up an issue posts that in its session.',
  INVALID_JSON:
    'Send one JSON document in UTF-8. Duplicate keys in an object, a missing body, invalid Unicode, the character NUL, more than 32 levels and more than 20,000 values are refused too.',
  INVALID_REQUEST: 'Check the request that your HTTP client or a proxy sends, starting with its `Host` header.',
  WORKSPACE_REQUIRED:
    '`GET /auth/me` lists your workspaces. Send the id of one as `X-Workspace-ID`; streams also take it as `workspace_id` in the query.',

  INSTALLATION_REVOKED:
    'Discard the tokens of this installation and stop calling. A manager has to install the app again.',
  UNAUTHORIZED:
    'As a person, sign in again. An app refreshes its access token; if that is refused too, a manager has to approve the app again.',
  INVALID_CREDENTIALS:
    'Check both. The response does not reveal which of them is wrong. After too many failures it is `RATE_LIMIT_EXCEEDED`.',

  INSUFFICIENT_SCOPE:
    'Add the scope in `details.required` to the manifest and have a manager approve the app again. A scope in the manifest alone grants nothing.',
  TEAM_ACCESS_DENIED:
    'A manager can add the team to the installation (`PATCH /installations/{id}`). Changing labels and initiatives needs all teams.',
  APP_STATUS_FORBIDDEN: 'Use one of `details.allowed`, and leave closing issues to people.',
  FORBIDDEN: 'Ask an owner or admin of the workspace, or the owner of the item.',
  CSRF_REFUSED:
    'Open the instance at its own address (`BATON_ROOT_URL`). Programs send `Authorization: Bearer …` and no cookie.',
  REAUTH_REQUIRED:
    'Prove who you are in this login, with one of `details.methods`: `password` (`POST /auth/reauth`), `passkey` (`POST /auth/reauth/passkey`) or `sso` (`POST /auth/sso/{provider_id}` with the purpose `reauth`). Then repeat the request within 15 minutes.',
  SESSION_ONLY_ROUTE: "Call it with a person's login. Programs cannot manage a workspace.",
  SSO_REQUIRED:
    'Sign in with one of the providers in `GET /instance`. Passwords, passkeys and sign-up are off on this instance.',
  WORKSPACE_ACCESS_DENIED: 'Use an id from `GET /auth/me`. A token works only in the workspace it was issued for.',

  RESOURCE_NOT_FOUND:
    "Check the id. Deleted items, other people's private items and unknown ids give the same response.",
  ROUTE_NOT_FOUND: 'Look the path up in the [reference](reference.md). The API is below `/api/v1`.',
  METHOD_NOT_ALLOWED: 'Use one of the methods in the `Allow` header.',
  REQUEST_TIMEOUT: 'Send the whole request without pauses. Retry if your connection was interrupted.',

  A2A_APP:
    'An A2A agent gets no Baton token and no webhook. `PUT …/a2a/credential` changes its credential, `POST …/a2a/card` reads its card again.',
  FILES_NOT_CONFIGURED:
    'Set `BATON_FILES_DIR` to a directory that all processes share, or `BATON_S3_URL` to a bucket; see [running](running.md).',
  IMPORT_RUNNING: '`GET /imports` shows it. Wait until it is done, or cancel it with `POST /imports/{id}/cancel`.',
  STORAGE_LIMIT_REACHED:
    '`details.limit` and `details.used` are in bytes. Delete files, or ask the operator to raise `BATON_WORKSPACE_BYTES`.',
  WORKSPACE_PENDING_DELETION:
    'An owner can cancel with `DELETE /workspaces/me/deletion` until the data is purged. Reading and exporting still work.',
  EDIT_CONFLICT:
    'Read the issue again, merge your change with the fields in `details.fields`, and send it with the new `updated_at` as `if_updated_at`, or without it to overwrite them.',
  A2A_CARD_UNUSABLE:
    '`details.reason` is one of: `not_a_card`, `no_supported_binding` (neither JSONRPC nor HTTP+JSON), `no_supported_version` (neither 1.x nor 0.3.x), `interface_not_public`, `required_extension`, `mtls_only`, `origin_changed` (accept it with `POST …/a2a/card {"accept": true}`).',
  ALREADY_INSTALLED:
    'Change its teams with `PATCH /installations/{id}`. For new scopes or new tokens, have the app start its OAuth installation again, or uninstall it first.',
  ALREADY_MEMBER: 'Nothing to do.',
  TEAM_IN_USE:
    '`details` lists the ids of the installations and webhooks. Change their teams (`PATCH /installations/{id}`, `PATCH /webhooks/{id}`) or delete them, then delete the team.',
  BUDGET_REACHED:
    '`details` has the limit, what is allowed and what was used. A manager raises the limit on the page of the app (`PUT /agent-apps/{id}/budget`); a limit of the month ends with the UTC month. Stop still works.',
  DELIVERY_CANCELED:
    'Its webhook was deleted, its app was uninstalled, or it was held for 30 days. Read the item through the API instead.',
  IDEMPOTENCY_KEY_REUSED:
    'Reuse a key only to repeat the same activity, and use a new key for the next one. The activity first sent with this key is stored.',
  LAST_OWNER: 'Make another member an owner (`PATCH /workspaces/me/members/{user_id}`), then try again.',
  LAST_SIGN_IN_METHOD: 'Set a password, add a passkey or connect a provider under Account, then remove this one.',
  MAIL_NOT_CONFIGURED:
    'The operator sets `BATON_SMTP_URL` and `BATON_MAIL_FROM` ([running Baton](running.md)). Until then the operator can create a reset link with `npm run operate -- reset-link`.',
  AUTOMATION_LIMIT_REACHED: 'Delete an automation that is no longer used (`DELETE /automations/{automation_id}`).',
  PASSKEY_LIMIT_REACHED: 'Remove a passkey that you no longer use (`DELETE /auth/passkeys/{passkey_id}`).',
  PERSONAL_AGENT_LIMIT_REACHED:
    'Delete one (`DELETE /agents/personal/{agent_id}`), or change the instructions of an existing one.',
  REDELIVERY_LIMIT_REACHED: 'Read the payload from the delivery record, or read the item through the API.',
  REPLAY_UNDER_WAY:
    'A webhook has one replay at a time. `GET …/replays` shows its progress; `DELETE …/replays/{replay_id}` stops it.',
  REVIEW_DECIDED:
    'Read the review again. `details.state` says what became of it; the next response of the agent makes a new one.',
  ROTATION_UNDER_WAY:
    'Call the `finish` route of the secret to end the overlap, wait until `details.takes_over_at`, or rotate without `overlap_hours`, which replaces both secrets at once.',
  SESSION_ENDED:
    'Stop working on it; this session is closed. If the work is still needed, a person has to delegate the issue again.',
  SUGGESTION_DECIDED:
    'Another person decided the suggestion in `details.suggestion_id` first. Read the suggestions again and decide those that are still open.',
  SUGGESTION_OUTDATED:
    'The suggestions in `details.suggestion_ids` are `outdated` now, because their label, person, project or issue is gone. Send the others again.',
  TOKEN_LIMIT_REACHED: 'Revoke a token that you no longer use (`DELETE /personal-tokens/{token_id}`).',
  VIEW_LIMIT_REACHED:
    'Delete one (`DELETE /views/{view_id}`), or change an existing one. Views shared by others do not count.',
  WEBHOOK_LIMIT_REACHED: 'Delete one, or ask the operator of the instance to raise `BATON_WEBHOOK_LIMIT`.',
  WEBHOOK_NOT_ENABLED: 'Enable it (`POST …/enable`), then start the replay.',
  WORKSPACE_LIMIT_REACHED:
    'Use a workspace that you have. Workspaces that you joined by invitation do not count, so another member can create it and invite you.',

  BODY_TOO_LARGE: `Send at most ${limits.bodyBytes.toLocaleString('en')} bytes; split long lists into several calls.`,
  URI_TOO_LONG: 'Shorten the query, for example by sending fewer ids.',
  UNSUPPORTED_MEDIA_TYPE:
    'Set `Content-Type: application/json`. The OAuth token routes take `application/x-www-form-urlencoded`. Do not compress the body.',
  DELEGATE_UNAVAILABLE:
    '`GET /users/select?issue_id=…` lists who is available for an issue. The installation must cover the team, the app needs `app:assignable`, and its webhook must be enabled. A personal agent accepts work only from its owner.',
  DELEGATION_REQUIRES_ASSIGNEE: "Send `assignee_id` with the delegation: a member of the issue's team.",
  PROMPT_IS_HUMAN_ONLY: 'Post a `thought`, `action`, `elicitation`, `response` or `error`.',
  REPLAY_TOO_LARGE:
    'Send a later `since`, an `until`, or fewer `types`, and replay the rest afterwards. `dry_run` counts without sending.',
  VALIDATION_ERROR:
    'Fix every field in `details`, which is keyed by dotted path. Nothing was stored. Unknown fields and query parameters are refused as well.',
  RATE_LIMIT_EXCEEDED:
    'Nothing was changed. Wait the number of seconds in `Retry-After`, then retry; see [rate limits](api.md#rate-limits).',
  HEADERS_TOO_LARGE: 'Send fewer or shorter headers; cookies of other sites on the same host are a common cause.',

  INTERNAL_ERROR:
    'Send `details.request_id` to the operator of the instance, who can find the cause in the log. You can retry reads; before you retry a write, check whether it took effect.',
  NOT_READY:
    'Try again in a moment. Operators find details in `/readyz` and the log, and instructions in [when things break](running.md#when-things-break).',
}
