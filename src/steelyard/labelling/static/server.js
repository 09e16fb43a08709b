// Requests to the server.

export const client = remembered(sessionStorage, "client", () => crypto.randomUUID());

function remembered(storage, key, make) {
  const name = `steelyard-${key}`;
  if (!storage.getItem(name)) storage.setItem(name, make());
  return storage.getItem(name);
}

export const who = () => localStorage.getItem("steelyard-annotator") || "me";

async function reply(response) {
  if (response.ok) return response.json();
  let message = await response.text();
  try { message = JSON.parse(message).error; } catch { /* plain text */ }
  throw Object.assign(new Error(message), { refused: true });
}

export const read = async (name, given = {}) =>
  reply(await fetch(`api/${name}?${new URLSearchParams({ client, annotator: who(), ...given })}`));

export const post = async (name, given = {}) => reply(await fetch(`api/${name}`, {
  method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ client, annotator: who(), ...given }),
}));
