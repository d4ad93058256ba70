// An authorization server: oidc-provider, with registration, PKCE, resource indicators, rotation and revocation.
// Usage: node authorization_server.cjs MODULES OPTIONS. OPTIONS is JSON: "seconds" of an access token, and "issuer" to
// name another one in the answers than in the metadata. It prints its port. GET /-/log gives the grants that were asked for.
const http = require('node:http')
const path = require('node:path')

const [modules, options] = [process.argv[2], JSON.parse(process.argv[3] || '{}')]
console.warn = console.info = () => {}

function configuration() {
  return {
    clients: [
      {
        client_id: 'known',
        client_secret: 'known-secret-4711',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      { client_id: 'resource', client_secret: 'resource-secret', redirect_uris: [], grant_types: [], response_types: [] },
    ],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    scopes: ['openid', 'offline_access', 'tools'],
    cookies: { keys: ['test'] },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: options.registers !== false },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource) => ({
          scope: 'tools',
          audience: resource,
          accessTokenTTL: options.seconds || 3600,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  }
}

async function main() {
  const { default: Provider } = await import(path.join(modules, 'oidc-provider/lib/index.js'))
  const server = http.createServer()
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    const log = []
    const provider = new Provider(`http://127.0.0.1:${port}`, configuration())
    const note = (outcome) => (ctx) => log.push({ outcome, grant: ctx.oidc.params?.grant_type, resource: ctx.oidc.params?.resource })
    provider.on('grant.success', note('success'))
    provider.on('grant.error', note('error'))
    const answer = provider.callback()
    server.on('request', (request, response) => {
      if (request.url !== '/-/log') return answer(request, response)
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(log))
    })
    process.stdout.write(`${port}\n`)
  })
}

main()
