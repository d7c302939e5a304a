import { rmSync } from 'node:fs'
import { ServiceProcess } from '../../server/test/service-process.ts'
import { copyOfTemplate } from './template.ts'

/** What a spec changes of the service's settings, by the names of docs/guides/running.md. */
export type Settings = Record<string, string>

/** Time rules in seconds that a person at a browser can wait for: `test.use({ settings: hurried })`. */
export const hurried: Settings = {
  BATON_UNRESPONSIVE_AFTER: '2',
  BATON_STALE_AFTER: '5',
  BATON_STOPPING_TIMEOUT: '5',
  BATON_RETRY_DELAYS: '1,1,1',
}

export interface Service {
  /** Where the browser goes; it is also what the service calls itself. */
  url: string
  /** What it has written to its log. */
  log(): string
}

/** A whole service in a process of its own, on an empty embedded database or the demo, for as long as `work` takes. */
export async function withService(settings: Settings, work: (service: Service) => Promise<void>) {
  const dir = copyOfTemplate()
  try {
    const service = await ServiceProcess.start({
      BATON_DATA_DIR: dir,
      BATON_ROLE: 'all',
      // Agents and receivers of the tests listen there.
      BATON_WEBHOOK_ALLOW: 'localhost',
      ...settings,
    })
    try {
      await work({ url: service.url.replace('127.0.0.1', 'localhost'), log: () => service.output })
    } finally {
      await service.kill('SIGTERM')
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
