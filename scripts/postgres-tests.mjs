// Which test files of the server run on PostgreSQL: always those whose result can differ there, and of all others one
// third per run, so that three runs in a row cover everything.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runNumber, StepFailed } from './setup.mjs'

/** Code that relies on locks, notifications or several processes. */
const roomsThatDiffer = ['src/db/', 'src/relay/', 'src/live/', 'src/delivery/', 'src/http/rate-', 'test/']
/** Files of concurrent requests, and of tests that run only on PostgreSQL. */
const racesFile = /races\.test\.ts$/
const needsPostgres = /verifiesOnPostgres|onPostgres/

const thirds = 3

/** `third` is a number from 1 to 3, `auto`, or `none` for only the files that can differ. */
export function filesOnPostgres(third) {
  const number = third === 'auto' ? thirdOfThisRun() : Number(third)
  if (third !== 'none' && ![1, 2, 3].includes(number))
    throw new StepFailed(`--third must be 1, 2, 3, auto or none, not ${third}`)
  const files = readdirSync(join(root, 'server'), { recursive: true })
    .filter((name) => /^(src|test)\/.*\.test\.ts$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(root, 'server', name), 'utf8') }))
  const { always, rotating } = split(files)
  if (third === 'none') {
    console.log(`▸ PostgreSQL runs ${always.length} test files that can differ there, and none of the others`)
    return always.map((name) => join('server', name))
  }
  const chosen = rotating[number - 1]
  const others = [1, 2, 3].filter((other) => other !== number).join(' or ')
  console.log(
    `▸ PostgreSQL runs ${always.length} test files that can differ there and third ${number} of the others ` +
      `(${chosen.length} files; --third ${others} runs the rest, no --third runs all)`,
  )
  return [...always, ...chosen].map((name) => join('server', name))
}

/** Sorted files take turns, so that the thirds are of similar length and a folder is spread over all. */
export function split(files) {
  const differs = ({ name, text }) =>
    roomsThatDiffer.some((room) => name.startsWith(room)) || racesFile.test(name) || needsPostgres.test(text)
  const names = (some) => some.map(({ name }) => name).sort()
  const others = names(files.filter((file) => !differs(file)))
  return {
    always: names(files.filter(differs)),
    rotating: Array.from({ length: thirds }, (_, third) => others.filter((_, index) => index % thirds === third)),
  }
}

function thirdOfThisRun() {
  return (runNumber() % thirds) + 1
}
