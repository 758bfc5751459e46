// PostgreSQL compiled to WebAssembly, with pgvector, at a port of loopback. Prints the port.
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

const db = await PGlite.create({ extensions: { vector } })
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0 })
server.addEventListener('listening', (event) => console.log(`port: ${event.detail.port}`))
await server.start()
