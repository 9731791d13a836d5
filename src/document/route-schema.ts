import { operation } from '../http.js';
import { openapi } from './openapi.js';

/** Creates the schema of the operation's route, as @fastify/swagger takes it: every reference is resolved. */
export function routeSchema(): object {
  const { components, ...document } = openapi();
  const { requestBody, responses, security: _, ...described } = document.paths[operation.path].post;
  const schemas: Record<string, unknown> = components.schemas;
  const inline = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_key, member) => {
      if (member?.$ref) return inline(schemas[member.$ref.split('/').pop()]);
      // Of what has a schema, headers alone are described. @fastify/swagger takes a header's schema for the header.
      const { schema, description } = member ?? {};
      return schema && description ? { ...schema, description } : member;
    });
  return { ...described, ...(inline({ body: requestBody, response: responses }) as object) };
}
