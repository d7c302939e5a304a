import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp, text } from './common.ts'
import { Issue } from './issues.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

export const suggestionFields = ['priority', 'type', 'label', 'assignee', 'project', 'duplicate_of'] as const
export const SuggestionField = Type.Enum(suggestionFields, {
  'x-message': `must be ${suggestionFields.slice(0, -1).join(', ')} or ${suggestionFields.at(-1)}`,
})
export type SuggestionField = Static<typeof SuggestionField>

export const SuggestionState = Type.Enum(['open', 'accepted', 'declined', 'outdated'], {
  'x-message': 'must be open, accepted, declined or outdated',
})
export type SuggestionState = Static<typeof SuggestionState>

/** A change of an issue that an agent suggests and a person decides. */
export const Suggestion = Type.Object(
  {
    id: id('sug'),
    issue_id: id('iss'),
    session_id: id('sess'),
    agent: Type.Object({ id: id('usr'), name: Type.String() }, closed),
    field: SuggestionField,
    /** A priority or type, or the id of the label, person, project or issue. */
    value: Type.String(),
    reason: Type.String(),
    state: SuggestionState,
    decided_by: nullable(id('usr')),
    decided_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { ...closed, title: 'Suggestion' },
)
export type Suggestion = Static<typeof Suggestion>

const NewSuggestion = Type.Object(
  { field: SuggestionField, value: Ref, reason: text(1, limits.suggestionReason) },
  { ...closed, title: 'NewSuggestion' },
)
export type NewSuggestion = Static<typeof NewSuggestion>

export const NewSuggestions = Type.Object(
  { suggestions: Type.Array(NewSuggestion, { minItems: 1, maxItems: limits.suggestionsAtOnce }) },
  closed,
)
export type NewSuggestions = Static<typeof NewSuggestions>

const Chosen = Type.Array(Ref, { maxItems: limits.suggestionsAtOnce, uniqueItems: true })
export const SuggestionDecision = Type.Partial(Type.Object({ accept: Chosen, decline: Chosen }), closed)
export type SuggestionDecision = Static<typeof SuggestionDecision>

/** An issue with its open suggestions. */
export const TriagedIssue = Type.Object(
  { issue: Issue, suggestions: Type.Array(Suggestion) },
  { ...closed, title: 'TriagedIssue' },
)
export type TriagedIssue = Static<typeof TriagedIssue>

const Suggested = Type.Object({ data: Type.Array(Suggestion) }, closed)

export const suggestions = {
  suggestChanges: operation(routes.suggestChanges, {
    summary: `Suggest up to ${limits.suggestionsAtOnce} changes of the issue of a session, for people to decide; a new one replaces your open one for the same field or label`,
    body: NewSuggestions,
    idempotent: true,
    returns: { 201: Suggested },
    errors: ['SESSION_ENDED', 'IDEMPOTENCY_KEY_REUSED'],
  }),
  listSuggestions: operation(routes.listSuggestions, {
    summary: 'List the suggestions for an issue, newest first',
    query: Type.Object({ ...paging, state: Type.Optional(SuggestionState) }, closed),
    returns: { 200: list(Suggestion) },
  }),
  decideSuggestions: operation(routes.decideSuggestions, {
    summary: `Accept and decline suggestions for an issue, together 1 to ${limits.suggestionsAtOnce}; all accepted ones are one change by the caller`,
    body: SuggestionDecision,
    returns: { 200: Suggested },
    errors: ['SUGGESTION_DECIDED', 'SUGGESTION_OUTDATED', 'DELEGATION_REQUIRES_ASSIGNEE'],
  }),
  listTriage: operation(routes.listTriage, {
    summary: 'List the issues with open suggestions, newest first',
    query: Type.Object({ ...paging, team_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(TriagedIssue) },
  }),
}
