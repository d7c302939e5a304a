// The only import of the protocol's library: build.mjs replaces this file by one that contains it.
export {
  type AnyMessage,
  type ClientConnection,
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
