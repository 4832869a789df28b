## -- write_text (path, text)
##
## Write a text, as it is.

function write_text (path, text)
  [stream, reason] = fopen (path, "w");
  if (stream < 0)
    error ("permafrost:out", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  if (fwrite (stream, text) != numel (text) || fflush (stream) != 0)
    error ("permafrost:out", "%s: written in part only; is the disk full?", path);
  endif
endfunction
