import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { Receiver } from '../server/test/receiver.ts'
import { Attack } from './attack.ts'
import { withService } from './service.ts'

const count = Number(process.env.BATON_ABUSE_COUNT ?? 1000)
const seed = Number(process.env.BATON_ABUSE_SEED ?? randomInt(2 ** 31))
const isLong = count >= 20_000

const settings = {
  BATON_WEBHOOK_ALLOW: 'localhost',
  // Everybody is to get through to what is behind the limits.
  BATON_TRUST_PROXY: '127.0.0.1',
  BATON_API_RATE: '1000000',
  BATON_INSTALLATION_RATE: '1000000',
  BATON_SESSION_RATE: '1000000',
  BATON_WEBHOOK_LIMIT: '100000',
}

test(`${count} requests from seed ${seed} break nothing and tell nobody what is not theirs`, {
  timeout: 1_800_000,
}, async () => {
  console.log(`abuse: ${count} requests, seed ${seed}`)
  const receiver = await Receiver.start()
  await withService(settings, async (service) => {
    const attack = await Attack.prepare(service, receiver)
    await attack.run(count, seed)
    const problems = [...attack.problems, ...(await attack.aftermath())]
    console.log(attack.report(isLong))
    expect(problems.slice(0, 20)).toEqual([])
    expect(attack.acceptedShare).toBeGreaterThan(0.25)
    // What only refuses has not been tried. A few need more luck than one run has.
    if (isLong) expect(attack.neverAccepted().length).toBeLessThan(8)
    if (isLong) expect(attack.neverRead()).toEqual([])
  })
  await receiver.stop()
})
