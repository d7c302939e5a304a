import { api } from '../data/api.ts'

/** Loaded when a passkey is first used. */
const webauthn = () => import('@simplewebauthn/browser')

/** Browsers report every refusal of a user, and every timeout, as the same error. */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { name } = error as Error
    if (name === 'NotAllowedError' || name === 'AbortError') throw new Error('Canceled, or no passkey was found.')
    if (name === 'InvalidStateError') throw new Error('This device already has a passkey for your account.')
    throw error
  }
}

export async function addPasskey(name: string) {
  const optionsJSON = await api.startPasskey()
  const { startRegistration } = await webauthn()
  const credential = await inWords(startRegistration({ optionsJSON: optionsJSON as never }))
  await api.createPasskey({ name, credential: credential as never })
}

/** Lets the user choose a passkey on the device, and returns its answer to the service's challenge. */
async function askForPasskey() {
  const optionsJSON = await api.startPasskeySignIn()
  const { startAuthentication } = await webauthn()
  return (await inWords(startAuthentication({ optionsJSON: optionsJSON as never }))) as never
}

export const signInWithPasskey = async () => api.signInWithPasskey({ credential: await askForPasskey() })
export const confirmWithPasskey = async () => api.reauthWithPasskey({ credential: await askForPasskey() })
