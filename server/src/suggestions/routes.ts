import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { decideSuggestions } from './decide.ts'
import { listSuggestions, listTriage } from './read.ts'
import { suggestChanges } from './suggest.ts'

export const suggestionRoutes = [
  route(api.suggestChanges, ({ ctx, caller, params, body, headers }) =>
    suggestChanges(ctx, caller, params.session_id, body, headers['idempotency-key']),
  ),
  route(api.listSuggestions, ({ ctx, caller, params, query }) => listSuggestions(ctx, caller, params.issue_id, query)),
  route(api.decideSuggestions, ({ ctx, caller, params, body }) =>
    decideSuggestions(ctx, caller, params.issue_id, body),
  ),
  route(api.listTriage, ({ ctx, caller, query }) => listTriage(ctx, caller, query)),
]
