// In the repository this is the protocol's list, in the package a copy of it (see build.mjs).
export { type CallName, callNames, type RouteName, routes } from '@baton/protocol/routes'
