// Compares the deliveries drained with a queue of another product, which signs and posts the same deliveries to the same
// receiver. A peer, not a floor: it has no fair sharing and tracks no receiver's health.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Agent } from 'undici'
import { installApart, StepFailed } from '../scripts/setup.mjs'
import { concurrency, count, drain, endpoints, signAndPost } from './rows/deliveries-drained.mjs'
import { sampleEvent, startReceiver } from './setting.mjs'

const addedAtOnce = 1000

let installing
const installed = () => {
  installing ??= installApart('Installing the queues of other products', 'bench/peers')
  return installing
}

/** Returns why the packages are missing, if they cannot be installed. */
export async function missingPackages() {
  try {
    await installed()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    return 'its packages cannot be installed'
  }
}

export async function loadPeer(name) {
  const entry = createRequire(join(await installed(), 'package.json')).resolve(name)
  return (await import(pathToFileURL(entry))).default
}

/** The data of the jobs, some at a time: the products add many at once slowly. */
export function* jobs() {
  const envelope = { ...sampleEvent(), created_at: new Date(), workspace_id: 'wsp_bench' }
  for (let made = 0; made < count; made += addedAtOnce) {
    yield Array.from({ length: addedAtOnce }, (_, n) => ({ endpoint: (made + n) % endpoints, envelope }))
  }
}

/** `drainJobs` gets the setting, the receiver and a function that posts the delivery of a job. Returns jobs per second. */
export async function against(setting, drainJobs) {
  const receiver = await startReceiver()
  const agent = new Agent({ connections: concurrency })
  const post = ({ endpoint, envelope }) => {
    const at = Date.now()
    const body = JSON.stringify({ ...envelope, webhook_id: 'whk_bench', webhook_timestamp: at })
    return signAndPost(agent, receiver.url, endpoint, body, at)
  }
  try {
    return [{ ours: await drain(setting, receiver), floor: await drainJobs(setting, receiver, post) }]
  } finally {
    await agent.destroy()
    receiver.stop()
  }
}
