import type { RunnerContext } from './context.ts'
import type { RepositorySettings } from './options.ts'
import type { SessionRecord } from './state.ts'

/** The repository of a session: by project, team key or repository hint; a sole one always. Null if none matches. */
export async function matchRepository(
  context: RunnerContext,
  record: SessionRecord,
): Promise<RepositorySettings | null> {
  const { repositories } = context.settings
  const [first] = repositories
  if (first && repositories.length === 1) return first
  const same = (a: string, b: string | null | undefined) => b != null && a.toLowerCase() === b.toLowerCase()
  const project = await projectOf(context, record)
  const hints = [
    ...(await context.state.context(record.id)).matchAll(/<repository-hint\s+repository=(?:'([^']*)'|"([^"]*)")/g),
  ].map(([, single, double]) => single ?? double ?? '')
  return (
    repositories.find(({ projects }) => projects.some((one) => same(one, project?.title) || same(one, project?.id))) ??
    repositories.find(({ teams }) => teams.some((one) => same(one, record.teamKey))) ??
    repositories.find(({ repository }) => repository !== null && hints.some((hint) => same(hint, repository))) ??
    null
  )
}

async function projectOf({ client, settings }: RunnerContext, { issueId, projectId }: SessionRecord) {
  if (!settings.repositories.some(({ projects }) => projects.length > 0)) return null
  try {
    const id = projectId ?? (issueId ? (await client.getIssue({ issue_id: issueId })).project_id : null)
    return id ? await client.getProject({ project_id: id }) : null
  } catch {
    // Not visible to the app.
    return null
  }
}
