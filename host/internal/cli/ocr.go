package cli

import (
	"cmp"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/ocr"
)

// ocrUsage is the help text of --ocr.
const ocrUsage = "OCR service for images and scanned pages: `URL[#LANGUAGE]` of its POST /ocr, with the key in " +
	"EASEL_OCR_KEY; the program tesseract when left out, where it is installed"

// imageReader returns the OCR of a setting or of EASEL_OCR, else the installed program.
func imageReader(a *app, setting string) (document.OCR, error) {
	if setting = cmp.Or(setting, a.getenv("EASEL_OCR")); setting == "" {
		return document.FindTesseract(), nil
	}
	return ocr.New(setting, a.getenv("EASEL_OCR_KEY"), nil)
}
