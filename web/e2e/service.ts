import { ServiceProcess } from '../../server/test/service-process.ts'
import { ownDatabase } from './template.ts'

/** Settings of the service that a spec changes, by the names in docs/guides/running.md. */
export type Settings = Record<string, string>

// Each different set of settings needs a service of its own, so files share these.

/** Timeouts in seconds that are short enough for a browser test: `test.use({ settings: shortTimeouts })`. */
export const shortTimeouts: Settings = {
  BATON_UNRESPONSIVE_AFTER: '2',
  BATON_STALE_AFTER: '5',
  BATON_STOPPING_TIMEOUT: '5',
  // Deliveries fail for good after five seconds; a test has the last delay, three seconds, to act before that.
  BATON_RETRY_DELAYS: '1,1,3',
  BATON_SESSION_RATE: '1000',
}

/** A mail server and a language model that cannot be reached. */
export const nothingListens: Settings = {
  BATON_SMTP_URL: 'smtp://127.0.0.1:1',
  BATON_MAIL_FROM: 'Baton <baton@example.com>',
  BATON_MODEL_URL: 'http://127.0.0.1:1/v1',
  BATON_MODEL: 'small-1',
}

export interface Service {
  /** The address that the browser opens, and the service's own public URL. */
  url: string
  secretKey: Buffer
  /** The log output so far. */
  log(): string
}

/** Runs `work` with a service in its own process, on an empty database or the demo. */
export async function withService(settings: Settings, work: (service: Service) => Promise<void>) {
  const { env, secretKey, remove } = await ownDatabase({ embedded: settings.BATON_DEMO === '1' })
  try {
    const service = await ServiceProcess.start({
      ...env,
      BATON_ROLE: 'all',
      // The agents and receivers of the tests listen on localhost.
      BATON_WEBHOOK_ALLOW: 'localhost',
      ...settings,
    })
    try {
      await work({ secretKey, url: service.url.replace('127.0.0.1', 'localhost'), log: () => service.output })
    } finally {
      await service.kill('SIGTERM')
    }
  } finally {
    await remove()
  }
}
