import type { ModelStatus } from '@baton/protocol'
import { plus } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { sql } from '../../db/sql.ts'

type Endpoint = NonNullable<Config['model']>
type Health = Pick<ModelStatus, 'last_success_at' | 'last_failure_at' | 'last_failure'>

/** The same outcome is stored at most this often. */
const everyMs = 60_000

const hostOf = ({ url }: Endpoint) => new URL(url).host
const endpointKey = (model: Endpoint) => `${model.name} at ${hostOf(model)}`

/** Only the host of the URL: its path or query can contain secrets, like the key. */
export async function modelStatus({ db, config: { model } }: Context): Promise<ModelStatus> {
  if (!model) return { configured: false, model: null, url_host: null, ...unknown }
  const health = await db.row<Health>(sql`
    select last_success_at, last_failure_at, last_failure from model_health where about = ${endpointKey(model)}`)
  return { configured: true, model: model.name, url_host: hostOf(model), ...(health ?? unknown) }
}

const unknown: Health = { last_success_at: null, last_failure_at: null, last_failure: null }

/** `failure` is undefined when the model answered. */
export async function recordHealth({ db, clock }: Context, model: Endpoint, failure?: string) {
  const now = clock.now()
  const recently = plus(now, -everyMs)
  const about = endpointKey(model)
  if (failure === undefined) {
    await db.run(sql`
      insert into model_health as h (about, last_success_at) values (${about}, ${now})
      on conflict (about) do update set last_success_at = excluded.last_success_at
      where h.last_success_at is null or h.last_success_at <= ${recently} or h.last_failure_at >= h.last_success_at`)
  } else {
    await db.run(sql`
      insert into model_health as h (about, last_failure_at, last_failure) values (${about}, ${now}, ${failure})
      on conflict (about) do update
        set last_failure_at = excluded.last_failure_at, last_failure = excluded.last_failure
      where h.last_failure is distinct from excluded.last_failure or h.last_failure_at <= ${recently}
        or h.last_success_at >= h.last_failure_at`)
  }
}
