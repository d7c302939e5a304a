// A seam of the package: in the repository this is the protocol's own list, in what is packed a copy of it (build.mjs).
export { type CallName, callNames, type RouteName, routes } from '@baton/protocol/routes'
