// Loaded into an agent that was written for Linear, before its own code, with `node --require`. It sends the agent's
// calls of Linear's API to Baton, and leads browsers to Baton's consent page. Other requests are unchanged.
const http = require('node:http')
const https = require('node:https')
const { syncBuiltinESMExports } = require('node:module')

const root = (process.env.BATON_LINEAR_URL ?? '').replace(/\/+$/, '')
const hosts = ['api.linear.app', 'linear.app']
const authorizeAddress = 'https://linear.app/oauth/authorize'

/** The address at Baton, or undefined for a request to another service. */
function redirected(address) {
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, pathname, search } = new URL(address)
  const isApi = pathname === '/graphql' || pathname.startsWith('/oauth/')
  if (protocol !== 'https:' || !hosts.includes(hostname) || !isApi) return undefined
  return new URL(`${root}/linear${pathname}${search}`)
}

/** Links that the agent shows or redirects to. */
const withBaton = (value) =>
  typeof value === 'string' ? value.replaceAll(authorizeAddress, `${root}/linear/oauth/authorize`) : value

const nativeFetch = globalThis.fetch
globalThis.fetch = function fetch(input, init) {
  const target = redirected(input instanceof Request ? input.url : String(input))
  if (!target) return nativeFetch(input, init)
  return nativeFetch(input instanceof Request ? new Request(target, input) : target, init)
}

/** The forms that `https.request` takes: an address and options, or options alone. */
function readArguments([first, second, third]) {
  const isAddress = typeof first === 'string' || first instanceof URL
  const given = isAddress ? second : first
  const options = typeof given === 'object' && given !== null ? given : {}
  const callback = typeof second === 'function' ? second : third
  const port = options.port ? `:${options.port}` : ''
  const built = `https://${options.hostname ?? options.host ?? 'localhost'}${port}${options.path ?? '/'}`
  return { address: isAddress ? String(first) : built, options, callback }
}

/** They name Linear's host, or a connection to it. */
const ofConnection = [
  'agent',
  'host',
  'hostname',
  'port',
  'path',
  'pathname',
  'href',
  'search',
  'servername',
  'protocol',
]

const nativeRequest = https.request
function request(...given) {
  const { address, options, callback } = readArguments(given)
  const target = redirected(address)
  if (!target) return nativeRequest.apply(https, given)
  const kept = Object.fromEntries(Object.entries(options).filter(([name]) => !ofConnection.includes(name)))
  const { headers = {} } = kept
  const withoutHost = Array.isArray(headers)
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host'))
  const send = target.protocol === 'https:' ? nativeRequest : http.request
  return send(target, { ...kept, headers: withoutHost }, callback)
}
https.request = request
https.get = (...given) => {
  const sent = request(...given)
  sent.end()
  return sent
}

for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream)
  stream.write = (chunk, ...rest) => write(withBaton(chunk), ...rest)
}

const { prototype } = http.ServerResponse
const { setHeader, writeHead } = prototype
prototype.setHeader = function (name, value) {
  return setHeader.call(this, name, withBaton(value))
}
prototype.writeHead = function (...given) {
  return writeHead.apply(this, given.map(withLocation))
}

/** Headers are an object, or a list of names and values. */
function withLocation(headers) {
  if (Array.isArray(headers)) return headers.map(withBaton)
  if (headers === null || typeof headers !== 'object') return headers
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withBaton(value)]))
}

// For `import { request } from 'node:https'`.
syncBuiltinESMExports()
