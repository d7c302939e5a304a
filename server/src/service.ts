import { readFileSync } from 'node:fs'
import { api } from '@baton/protocol'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { sql } from './db/sql.ts'
import { demoLoginOf } from './demo/login.ts'
import { ApiError } from './http/errors.ts'
import { type Metrics, metricsType } from './http/metrics.ts'
import { openApi } from './http/openapi.ts'
import { Reply, route } from './http/route.ts'
import { needsFirstAccount, signUpIsOpen } from './login/sign-up.ts'
import { passkeysWork } from './passkeys/relying-party.ts'
import { serverDir } from './paths.ts'
import type { Issuers } from './sso/issuers.ts'
import type { WebFiles } from './web/files.ts'
import { appPage } from './web/web.ts'

/** `stopping` is set when the process is asked to stop; `/readyz` fails from then on. */
export interface Lifecycle {
  stopping: boolean
}

/** Routes about this instance: health, readiness, metrics, the API description, version and features. */
export function serviceRoutes(
  context: Context,
  metrics: Metrics,
  lifecycle: Lifecycle,
  web: WebFiles | null,
  issuers: Issuers,
) {
  const { config } = context
  // A shared database may be reachable by others; there only the operator's terminal shows the demo login.
  const demoLogin = config.database.kind === 'embedded' ? demoLoginOf(context) : async () => null
  // Generated at the first request.
  let description: { openapi: string } | undefined
  const home = web ? appHome(web) : new Reply(plainHome(config), { 'content-type': 'text/html; charset=utf-8' })
  return [
    route(api.getHome, () => home),

    route(api.getHealth, () => ({ status: 'ok' })),

    route(api.getReadiness, async ({ ctx }) => {
      if (lifecycle.stopping) throw new ApiError('NOT_READY')
      await ctx.db.row(sql`select 1`).catch((error: Error) => {
        ctx.log.warn({ message: error.message }, 'readiness: the database does not answer')
        throw new ApiError('NOT_READY')
      })
      return { status: 'ready' }
    }),

    route(api.getMetrics, async () => {
      if (config.metricsListen) throw new ApiError('ROUTE_NOT_FOUND')
      return new Reply(await metrics.text(), { 'content-type': metricsType })
    }),

    route(api.getOpenApi, () => {
      description ??= openApi(api, config) as { openapi: string }
      return description
    }),

    route(api.getInstance, async ({ ctx }) => ({
      name: 'Baton' as const,
      version,
      sign_up: !ctx.config.sso.only && (await signUpIsOpen(ctx)),
      // With single sign-on only there is no sign-up: the first account begins with a provider.
      needs_first_account: !ctx.config.sso.only && (await needsFirstAccount(ctx)),
      demo: await demoLogin(),
      has_model: ctx.config.model !== null,
      mail: ctx.config.mail !== null,
      files: ctx.storage ? { max_bytes: ctx.config.fileBytes } : null,
      passkeys: passkeysWork(ctx.config) && !ctx.config.sso.only,
      sso: {
        only: ctx.config.sso.only,
        providers: ctx.config.sso.providers.map((provider) => ({
          id: provider.id,
          name: provider.name,
          sign_out_url: issuers.signOutUrl(provider),
        })),
      },
    })),
  ]
}

export const { version } = JSON.parse(readFileSync(new URL('package.json', serverDir), 'utf8')) as { version: string }

/** The operations that worker processes serve too. */
export const serviceOperations = [api.getHealth, api.getReadiness, api.getMetrics]

function appHome(web: WebFiles) {
  const { body, headers } = appPage(web)
  return new Reply(body.toString(), headers)
}

const plainHome = ({ baseUrl }: Config) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Baton</title></head>
<body>
<h1>Baton</h1>
<p>A work tracker whose teammates include agents. This instance is running.</p>
<p>The web app has not been built. Run <code>npm run build --workspace web</code> and restart.</p>
<p>Read the <a href="/docs">documentation</a>. The API is described in <a href="${baseUrl}/openapi.json">openapi.json</a>.</p>
</body>
</html>
`
