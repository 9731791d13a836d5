type Fetch = (request: Request, ...rest: unknown[]) => Promise<Response> | Response;
type Listening = { port: number };
declare const Bun: { serve(options: { port: number; fetch: Fetch }): Listening } | undefined;
declare const Deno: {
  serve(options: { port: number; onListen: (address: Listening) => void }, handler: Fetch): void;
};

/** Serves a fetch handler on Bun or Deno, on a port that it prints. */
export function listen(fetch: Fetch): void {
  if (typeof Bun === 'object') console.log({ port: Bun.serve({ port: 0, fetch }).port });
  else Deno.serve({ port: 0, onListen: ({ port }) => console.log({ port }) }, fetch);
}
