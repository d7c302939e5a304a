import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { cancelDeletion, startDeletion } from './deletion.ts'

export const deletionRoutes = [
  route(api.startDeletion, ({ ctx, caller, body }) => startDeletion(ctx, caller, body.name)),
  route(api.cancelDeletion, ({ ctx, caller }) => cancelDeletion(ctx, caller)),
]
