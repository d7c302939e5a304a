import { limits } from '@baton/protocol'
import { refuse, type Step } from './document.ts'
import type { ObjectType, Run } from './type.ts'

type Value = Record<string, unknown>

/** Stops between two statements when the request has taken too long. */
export class Deadline {
  readonly #run: Run
  readonly #endsAt: number

  constructor(run: Run) {
    this.#run = run
    this.#endsAt = run.ctx.clock.now().getTime() + limits.linearSeconds * 1000
  }

  check() {
    if (this.#run.ctx.clock.now().getTime() > this.#endsAt) {
      throw refuse(`The request took longer than ${limits.linearSeconds} s.`)
    }
  }
}

/** Resolves one field for all parents, and everything below it. */
export async function resolveStep(step: Step, parents: unknown[], run: Run, deadline: Deadline): Promise<unknown[]> {
  const { field, type, args, steps } = step
  if (!field) return parents.map(() => undefined)
  deadline.check()
  const values = await field.resolve(parents as never[], args, run)
  if (!type) return values.map((value) => value ?? null)
  // The same object, such as the team of many issues, is completed once.
  const objects = [...new Set(values.flat().filter((value): value is Value => value != null))]
  const completed = new Map(zip(objects, await completeAll(type, objects, steps, run, deadline)))
  const complete = (value: unknown) => (value == null ? null : (completed.get(value as Value) ?? null))
  return values.map((value) => (Array.isArray(value) ? value.map(complete) : complete(value)))
}

/** The selected fields of objects of one type, level by level. */
async function completeAll(type: ObjectType, objects: Value[], steps: Step[], run: Run, deadline: Deadline) {
  // No prototype: a document can name a key `__proto__`.
  const results = objects.map(() => Object.create(null) as Value)
  const typeNameOf = (value: Value) => (type.union ? String(value.__typename) : type.name)
  for (const step of steps) {
    const fitting = zip(objects, results).filter(([value]) => step.on === undefined || step.on === typeNameOf(value))
    const values =
      step.name === '__typename'
        ? fitting.map(([value]) => typeNameOf(value))
        : await resolveStep(
            step,
            fitting.map(([value]) => value),
            run,
            deadline,
          )
    fitting.forEach(([, result], index) => {
      result[step.key] = values[index]
    })
  }
  return results
}

const zip = <A, B>(left: A[], right: B[]): [A, B][] => left.map((item, index) => [item, right[index] as B])
