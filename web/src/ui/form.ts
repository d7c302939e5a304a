import type { FormEvent } from 'react'
import { useAction } from './action.ts'
import { fieldErrors } from './problem.ts'

/**
 * A form that is sent to the server. `fields` are those that show their own error; any other failure is the `problem`
 * to show below the form.
 */
export function useForm(send: () => Promise<unknown>, fields: readonly string[] = []) {
  const { run, busy, error, problem } = useAction(send)
  const errors = fieldErrors(error)
  const isShownByField = Object.keys(errors).some((field) => fields.includes(field))
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    await run()
  }
  return { submit, errors, problem: isShownByField ? null : problem, busy }
}
