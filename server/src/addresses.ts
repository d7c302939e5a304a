import type { Config } from './config.ts'
import { type Sql, sql } from './db/sql.ts'

/** Addresses of pages and icons, for links in API responses and events. */
export const issueUrl = ({ appUrl }: Config, code: string) => `${appUrl}/issue/${code}`
export const projectUrl = ({ appUrl }: Config, id: string) => `${appUrl}/project/${id}`
export const commentUrl = (placeUrl: string, id: string) => `${placeUrl}#comment-${id}`
export const agentAppUrl = ({ appUrl }: Config, id: string) => `${appUrl}/settings/agent-apps/${id}`
export const webhookUrl = ({ appUrl }: Config, id: string) => `${appUrl}/settings/webhooks/${id}`
export const automationUrl = ({ appUrl }: Config, id: string) => `${appUrl}/settings/automations/${id}`
export const triageUrl = ({ appUrl }: Config, teamId: string) => `${appUrl}/triage?team_id=${teamId}`
export const iconUrl = ({ baseUrl }: Config, appId: string) => `${baseUrl}/agent-apps/${appId}/icon`

/** The same as SQL, where `i` is the issue, `p` the project and `c` the comment. */
export const issueUrlSql = (config: Config): Sql => sql`${issueUrl(config, '')}::text || i.code`
export const projectUrlSql = (config: Config): Sql => sql`${projectUrl(config, '')}::text || p.id`
export const commentUrlSql = (config: Config): Sql =>
  sql`coalesce(${issueUrlSql(config)}, ${projectUrlSql(config)}) || ${commentUrl('', '')}::text || c.id`
