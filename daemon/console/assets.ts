/** Style and scripts of the console, served from this process under names with a hash of their content. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { notFound } from '../../src/platform/errors.ts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import type { Assets } from './layout.tsx'

const FILES = { style: 'console.css', script: 'console.js', chart: 'chart.js' } as const
const TYPES = { style: 'text/css', script: 'text/javascript', chart: 'text/javascript' } as const

export interface ServedAssets {
  paths: Assets
  answer(c: Context<RequestEnv>): Response
}

/** Reads the files that the build wrote. */
export async function openAssets(): Promise<ServedAssets> {
  const names = Object.keys(FILES) as (keyof Assets)[]
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(placeOf(FILES[name]))
      const packed = new Uint8Array(await promisify(gzip)(bytes, { level: 9 }))
      const path = `console/assets/${hash('sha256', bytes).slice(0, 16)}-${FILES[name]}`
      return { name, path, packed, plain: new Uint8Array(bytes) }
    }),
  )
  return {
    paths: Object.fromEntries(files.map(({ name, path }) => [name, path])) as unknown as Assets,
    answer(c) {
      const file = files.find(({ path }) => c.req.path === `/${path}`)
      if (file === undefined) throw notFound(`There is no ${c.req.path}`)
      const isPacked = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
      const body = isPacked ? file.packed : file.plain
      const headers = {
        'Content-Type': `${TYPES[file.name]}; charset=utf-8`,
        'Content-Length': String(body.byteLength),
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding',
        'X-Request-Id': c.env.requestId,
      }
      return respond(c.env, 200, isPacked ? { ...headers, 'Content-Encoding': 'gzip' } : headers, body)
    },
  }
}

function placeOf(file: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/console/${file}` : `./console/${file}`, here))
}
