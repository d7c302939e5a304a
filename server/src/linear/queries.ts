import { api, limits, type Operation, type Team } from '@baton/protocol'
import { type Sql, sql } from '../db/sql.ts'
import { found, invalid, notFound } from '../http/errors.ts'
import { matching } from '../issues/read.ts'
import { inputId, statusOf } from '../linear-shape/ids.ts'
import { connectionOf, type Page, pageSize, pagingArgs, preparePaging, readPages, type Source } from './connections.ts'
import { filterSql } from './filters.ts'
import { findActivity, findCommentOrActivity, findIssue, findTeam, idFor, textArg } from './find.ts'
import {
  commentSource,
  issueSource,
  labelSource,
  projectSource,
  sessionSource,
  teamSource,
  userSource,
} from './sources.ts'
import { type Args, type Field, type ObjectType, object, type Run, value } from './type.ts'
import {
  activityType,
  commentConnection,
  commentType,
  foundIssueType,
  issueConnection,
  issueType,
  labelConnection,
  labelType,
  organizationType,
  projectConnection,
  projectType,
  sessionConnection,
  sessionType,
  stateList,
  stateOf,
  stateType,
  teamConnection,
  teamType,
  userConnection,
  userType,
} from './types.ts'

/** A field at the first level: it calls one operation, as the app. */
export const root = (
  type: () => ObjectType,
  args: readonly string[],
  read: (args: Args, run: Run) => Promise<unknown>,
  statements = 3,
): Field => ({ type, args, statements, resolve: async (_parents, given, run) => [await read(given, run)] })

/** A list at the first level. The operation decides who may read it; filters and order are Linear's. */
const list = <Item>(
  connection: () => ObjectType,
  source: Source<Item>,
  operation: Operation,
  more: { statements?: number; link?: (args: Args, run: Run) => Promise<Sql> | Sql } = {},
): Field => ({
  type: connection,
  args: pagingArgs,
  statements: more.statements ?? 4,
  prepare: preparePaging(source),
  pageSize,
  resolve: async (_parents, args, run) => {
    await run.operations.admit(operation)
    const link = (await more.link?.(args, run)) ?? sql`true`
    return readPages(run, source, [''], link, args)
  },
})

async function userOf(run: Run, id: string) {
  return found((await run.load.users([id])).get(id))
}

const suggestionType: ObjectType = {
  name: 'RepositorySuggestion',
  fields: {
    repositoryFullName: value(({ repositoryFullName }: Suggestion) => repositoryFullName),
    hostname: value(({ hostname }: Suggestion) => hostname ?? null),
    confidence: value(({ confidence }: Suggestion) => confidence),
  },
}

const suggestionsType: ObjectType = {
  name: 'RepositorySuggestionsPayload',
  fields: {
    suggestions: object(
      () => suggestionType,
      ({ suggestions }: { suggestions: Suggestion[] }) => suggestions,
    ),
  },
}

interface Candidate {
  repositoryFullName: string
  hostname?: string
}
interface Suggestion extends Candidate {
  confidence: number
}

/** The candidates that the team of the issue lists (linear.repository-suggestions). */
function suggestions(candidates: Candidate[], team: Team | null): Suggestion[] {
  const fitting = candidates.filter((candidate) => team?.repositories.some((known) => isSame(known, candidate)))
  return fitting.map((candidate) => ({ ...candidate, confidence: fitting.length === 1 ? 0.9 : 0.5 }))
}

const isSame = ({ repository, url }: Team['repositories'][number], { repositoryFullName, hostname }: Candidate) => {
  const name = repositoryFullName.toLowerCase()
  const sameHost = !url || !hostname || !URL.canParse(url) || new URL(url).hostname === hostname.toLowerCase()
  const path = url && URL.canParse(url) ? new URL(url).pathname.toLowerCase().replace(/^\/|\/$|\.git$/g, '') : null
  return sameHost && (repository.toLowerCase() === name || path === name)
}

function candidatesOf({ candidateRepositories }: Args): Candidate[] {
  const list = candidateRepositories
  const isCandidate = (item: unknown) =>
    typeof (item as Candidate | null)?.repositoryFullName === 'string' &&
    ['string', 'undefined'].includes(typeof (item as Candidate).hostname)
  if (!Array.isArray(list) || list.length > limits.idsInArray || !list.every(isCandidate)) {
    throw invalid({ candidateRepositories: `must be a list of at most ${limits.idsInArray} repositories` })
  }
  return list
}

interface Search extends Page {
  /** Of all pages. */
  condition: Sql
}

const searchConnection: ObjectType = {
  name: 'IssueSearchPayload',
  fields: {
    ...connectionOf(() => foundIssueType).fields,
    totalCount: {
      statements: 1,
      resolve: async (parents: Search[], _args, { ctx, caller }) =>
        Promise.all(
          parents.map(async ({ condition }) => {
            const row = await ctx.db.row<{ count: number }>(sql`
              select count(*)::int as count from issues i where ${issueSource.visibleTo(caller)} and ${condition}`)
            return row?.count ?? 0
          }),
        ),
    } as Field<Search>,
  },
}

function searchCondition(args: Args): Sql {
  const term = textArg(args, 'term')
  if (Array.from(term).length > limits.query) throw invalid({ term: `must have at most ${limits.query} characters` })
  const team = args.teamId === undefined ? sql`true` : sql`i.team_id = ${inputId('team', textArg(args, 'teamId'))}`
  return sql`${team} ${matching(term)}`
}

/** Comments are listed for an issue or a thread, whose access decides. */
async function mustReachThread({ paging }: Args, run: Run) {
  const { filter } = paging as { filter?: { issue?: { id?: { eq?: string } }; parent?: { id?: { eq?: string } } } }
  const [issue, parent] = [filter?.issue?.id?.eq, filter?.parent?.id?.eq]
  if (issue !== undefined) {
    const { id } = await findIssue(run, issue)
    await run.operations.call(api.listComments, { query: { target_type: 'issue', target_id: id, limit: 1 } })
  } else if (parent !== undefined) await findCommentOrActivity(run, parent)
  else throw invalid({ filter: 'must name an issue or a parent: {issue: {id: {eq}}} or {parent: {id: {eq}}}' })
  return sql`true`
}

export const queryType: ObjectType = {
  name: 'Query',
  fields: {
    viewer: root(
      () => userType,
      [],
      async (_args, run) => {
        const { user } = await run.operations.call(api.getMe)
        return userOf(run, user.id)
      },
    ),
    organization: root(
      () => organizationType,
      [],
      (_args, { operations }) => operations.call(api.getWorkspace),
    ),
    user: root(
      () => userType,
      ['id'],
      async (args, run) => {
        const asked = textArg(args, 'id')
        const user_id = asked === 'me' ? run.caller.id : inputId('usr', asked)
        const { id } = await run.operations.call(api.getUser, { params: { user_id } })
        return userOf(run, id)
      },
    ),
    users: list(() => userConnection, userSource, api.selectUsers),

    team: root(
      () => teamType,
      ['id'],
      (args, run) => findTeam(run, textArg(args, 'id')),
    ),
    teams: list(() => teamConnection, teamSource, api.listTeams),
    workflowState: root(
      () => stateType,
      ['id'],
      async (args) => {
        const status = statusOf(textArg(args, 'id'))
        if (!status) throw notFound()
        return stateOf(status, null)
      },
    ),
    workflowStates: stateList(() => null) as Field,
    issueRepositorySuggestions: root(
      () => suggestionsType,
      ['issueId', 'candidateRepositories', 'agentSessionId'],
      async (args, run) => {
        const candidates = candidatesOf(args)
        const { team_id } = await findIssue(run, textArg(args, 'issueId'))
        const team = team_id ? await run.operations.call(api.getTeam, { params: { team_id } }) : null
        return { suggestions: suggestions(candidates, team) }
      },
    ),

    issue: root(
      () => issueType,
      ['id'],
      (args, run) => findIssue(run, textArg(args, 'id')),
    ),
    issues: list(() => issueConnection, issueSource, api.listIssues),
    searchIssues: {
      type: () => searchConnection,
      args: [...pagingArgs, 'term', 'teamId'],
      statements: 2,
      prepare: (args) => {
        searchCondition(args)
        return preparePaging(issueSource)(args)
      },
      pageSize,
      resolve: async (_parents, args, run) => {
        await run.operations.admit(api.listIssues)
        const found = searchCondition(args)
        const { filter = {} } = args.paging as { filter?: unknown }
        const condition = sql`${found} and ${filterSql(filter, issueSource.filters(run.caller))}`
        const pages = await readPages(run, issueSource, [''], found, args)
        return pages.map((page): Search => ({ ...page, condition }))
      },
    },
    comment: root(
      () => commentType,
      ['id'],
      (args, run) => findCommentOrActivity(run, textArg(args, 'id')),
      9,
    ),
    comments: list(() => commentConnection, commentSource, api.listComments, { link: mustReachThread, statements: 11 }),

    issueLabel: root(
      () => labelType,
      ['id'],
      (args, { operations }) =>
        operations.call(api.getLabel, { params: { label_id: inputId('lbl', textArg(args, 'id')) } }),
    ),
    issueLabels: list(() => labelConnection, labelSource, api.listLabels),
    project: root(
      () => projectType,
      ['id'],
      (args, { operations }) =>
        operations.call(api.getProject, { params: { project_id: inputId('prj', textArg(args, 'id')) } }),
    ),
    projects: list(() => projectConnection, projectSource, api.listProjects),

    agentSession: root(
      () => sessionType,
      ['id'],
      (args, { operations }) =>
        operations.call(api.getAgentSession, { params: { session_id: String(idFor('sess', textArg(args, 'id'))) } }),
    ),
    agentSessions: list(() => sessionConnection, sessionSource, api.listAgentSessions),
    agentActivity: root(
      () => activityType,
      ['id'],
      (args, run) => findActivity(run, textArg(args, 'id')),
      6,
    ),
  },
}
