// Drags, wheel and pinches on a canvas.

const WHEEL_ZOOM = 0.0015; // of the zoom's logarithm, per pixel of wheel
const STILL = 4; // px that the pointer may move during a click

/**
 * Calls `onDrag(dx, dy)`, `onZoom(factor, point)` and `onClick(point)`, in CSS pixels of the canvas, and
 * `onPan(dx, dy)` for drags of two fingers, of the right button, or with shift.
 */
function listen(canvas, { onDrag, onPan = onDrag, onZoom, onClick }) {
  const pointers = new Map();
  let pressed = null; // place of the press, while it may be a click
  const place = (event) => ({ x: event.offsetX, y: event.offsetY });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    pressed = pointers.size === 1 ? place(event) : null;
  });
  canvas.addEventListener("pointerup", () => pressed && onClick?.(pressed));
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const [now, others] = [place(event), [...pointers.values()].filter((p) => p !== before)];
    pointers.set(event.pointerId, now);
    if (pressed && distance(now, pressed) > STILL) pressed = null;
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (others.length === 0) (event.buttons === 2 || event.shiftKey ? onPan : onDrag)(dx, dy);
    else {
      onZoom(distance(now, others[0]) / Math.max(distance(before, others[0]), 1), others[0]);
      if (onPan !== onDrag) onPan(dx / 2, dy / 2);
    }
  });
  if (onPan !== onDrag) canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode ? event.deltaY * 16 : event.deltaY;
    onZoom(Math.exp(-pixels * WHEEL_ZOOM), place(event));
  }, { passive: false });
}
