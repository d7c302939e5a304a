type Confirm = (methods: readonly string[]) => Promise<boolean>

let load: () => Promise<Confirm> = async () => async () => false

/** Sets how users confirm their identity. The dialog is loaded when it is first needed. */
export const confirmIdentityWith = (loader: () => Promise<Confirm>) => {
  load = loader
}

/**
 * Repeats a request that needs a recent login, when the user has confirmed their identity. Every request goes through
 * here, so that no screen has to know which of its requests need it.
 */
export async function repeatAfterConfirming(refusal: Response, repeat: () => Promise<Response>): Promise<Response> {
  const text = await refusal.text()
  // Unlike a body that was read, this one can be read again.
  const again = (body: string) => new Response(body, refusal)
  if (!text.includes('"REAUTH_REQUIRED"')) return again(text)
  const { code, details } = JSON.parse(text)
  if (await (await load())(details.methods)) return repeat()
  return again(JSON.stringify({ code, message: 'Canceled. Nothing was changed.', details }))
}
