import { type FormEvent, useState } from 'react'
import { fieldErrors, messageOf } from './problem.ts'

/**
 * A form that is sent to the server: what is wrong with which field, what is wrong otherwise, and whether it is under
 * way. What was typed stays until the server said yes.
 */
export function useForm(send: () => Promise<unknown>, fields: readonly string[] = []) {
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    if (busy) return
    setBusy(true)
    setErrors({})
    setProblem(null)
    try {
      await send()
    } catch (error) {
      const found = fieldErrors(error)
      setErrors(found)
      // What has no place of its own is said under the form.
      if (!Object.keys(found).some((field) => fields.includes(field))) setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { submit, errors, problem, busy }
}
