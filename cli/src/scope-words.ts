// In the repository this is the protocol's file, in the package a copy of it (see build.mjs).
export { scopeWords } from '@baton/protocol/scope-words'
