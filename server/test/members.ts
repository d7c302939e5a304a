import type { TestPerson } from './harness.ts'

/** Invites a person, who accepts. */
export async function acceptInvitation(owner: TestPerson, person: TestPerson) {
  const { body } = await owner.post('/workspaces/me/invitations', { email: person.user.email, role: 'member' })
  await person.post('/invitations/accept', { token: body.token })
}
