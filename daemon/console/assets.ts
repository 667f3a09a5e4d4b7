/** Style and scripts of the console, served from this process under names with a hash of their content. */
import type { Context } from 'hono'
import { notFound } from '../../src/platform/errors.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { answerFile, readBuilt, servedFile } from '../routes/built-files.ts'
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
      const file = await servedFile(await readBuilt(`console/${FILES[name]}`))
      return { name, file, path: `console/assets/${file.tag.slice(0, 16)}-${FILES[name]}` }
    }),
  )
  return {
    paths: Object.fromEntries(files.map(({ name, path }) => [name, path])) as unknown as Assets,
    answer(c) {
      const found = files.find(({ path }) => c.req.path === `/${path}`)
      if (found === undefined) throw notFound(`There is no ${c.req.path}`)
      return answerFile(c, found.file, {
        'Content-Type': `${TYPES[found.name]}; charset=utf-8`,
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
      })
    },
  }
}
